package sluice.cli;

import java.io.PrintWriter;
import java.time.Instant;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;
import sluice.region.RuntimeDirectory;
import sluice.region.Tenant;
import sluice.region.Tenants;

@Command(
        name = "ps",
        header = "Lists the tenants: processes, GPUs, memory used and limit.",
        description = {"", "Tenants that used a GPU and ended are kept for 15 minutes; --all shows them.", ""})
final class PsCommand implements Runnable {
    @Spec
    private CommandSpec spec;

    @Option(names = {"-a", "--all"}, description = "Shows ended tenants too.")
    private boolean all;

    @Option(names = "--json", description = "Writes JSON.")
    private boolean json;

    @Option(names = {"-h", "--help"}, usageHelp = true, description = "Shows this help.")
    private boolean help;

    @Override
    public void run() {
        Instant now = Instant.now();
        Tenants tenants = new Tenants(RuntimeDirectory.existing(System.getenv()));
        tenants.sweep(now);
        List<Tenant> shown = tenants.list().stream().filter(tenant -> all || tenant.running()).toList();
        PrintWriter out = spec.commandLine().getOut();
        PrintWriter err = spec.commandLine().getErr();
        if (json) {
            TenantJson.write(out, shown);
        } else if (shown.isEmpty()) {
            err.println(all ? "No tenants." : "No tenants are running; 'sluice run --memory 4g -- PROGRAM' starts one.");
        } else {
            PsTable.lines(shown, now, Screen.standard()).forEach(out::println);
        }
        tenants.unreadable().forEach(reason -> err.println("sluice: " + reason));
    }
}
