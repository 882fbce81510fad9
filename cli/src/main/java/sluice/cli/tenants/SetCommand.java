package sluice.cli.tenants;

import java.io.PrintWriter;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import sluice.cli.output.AnyCommand;
import sluice.cli.run.LimitOptions;
import sluice.cli.tables.SetText;
import sluice.region.LimitsChange;
import sluice.region.Tenant;
import sluice.region.limits.Limit;

@Command(
        name = "set",
        header = "Changes the limits of a tenant that runs.",
        customSynopsis = "sluice set TENANT [OPTIONS]",
        description = {
            "",
            "  sluice set train --memory 6g --compute 50%%",
            "",
            "Takes effect at the next allocation, and at the next call that submits work. A quota below what is in use",
            "takes nothing away: it grants nothing new until the tenant is below it. --compute, --weight and --turn take",
            "'none' too: as if they had never been given.",
            ""
        },
        footer = {"", "Exit status: 0 set, 1 there is no such tenant, or it has ended, 2 usage."})
public final class SetCommand extends AnyCommand implements Runnable {
    @Parameters(paramLabel = "TENANT", description = "Name, beginning of a name, pid, or path of a region file.")
    private String tenant;

    @Option(names = "--json", description = "Writes JSON.")
    private boolean json;

    @Override
    public void run() {
        LimitsChange change = new LimitsChange(LimitOptions.given(spec));
        if (change.isEmpty()) {
            throw new ParameterException(spec.commandLine(), "nothing to set; give " + options());
        }
        SeenTenants tenants = new SeenTenants(System.getenv());
        Tenant found = tenants.find(tenant);
        Tenant after = tenants.set(found, change);
        PrintWriter out = spec.commandLine().getOut();
        if (json) {
            SetText.writeJson(out, after);
        } else {
            List<String> lines = SetText.lines(found, after, change);
            lines.forEach(out::println);
        }
    }

    private static String options() {
        List<String> options = Limit.changeable().stream().map(Limit::option).toList();
        return String.join(", ", options.subList(0, options.size() - 1)) + " or " + options.getLast();
    }
}
