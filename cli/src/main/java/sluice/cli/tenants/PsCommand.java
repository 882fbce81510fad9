package sluice.cli.tenants;

import java.io.PrintWriter;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import sluice.api.json.TenantJson;
import sluice.api.model.EarlierLook;
import sluice.cli.output.AnyCommand;
import sluice.cli.output.Json;
import sluice.cli.output.Screen;
import sluice.cli.tables.AuditText;
import sluice.cli.tables.PsTable;
import sluice.region.Tenant;

@Command(
        name = "ps",
        header = "Lists the tenants: processes, GPUs, memory used and limit, GPU time got and asked for.",
        description = {
            "",
            "GOT is the part of the time since a tenant first used the GPU in which its work kept the GPU busy; with",
            "--over the part of the time from now on. ASKED is its cap, its weight (w3), its priority unless normal, and",
            "excl. WAITED is for its cap and its turn, all threads together. DEBT is GPU time ahead of its cap.",
            "Priorities are strict: low gets only what higher ones leave, which may be nothing; a last line says so.",
            "Tenants that used a GPU and ended are kept for 15 minutes; --all shows them. Where an agent runs, a last line",
            "tells of processes that use a GPU past Sluice.",
            ""
        })
public final class PsCommand extends AnyCommand implements Runnable {
    @Option(names = {"-a", "--all"}, description = "Shows ended tenants too.")
    private boolean all;

    @Option(names = "--over", paramLabel = "TIME",
            description = "Looks twice, this far apart, such as 500ms or 5s, and shows the GPU time that each tenant got in between.")
    private Duration over;

    @Option(names = {"-w", "--wide"}, description = "Cuts no line short, and names pod, container and claim of each tenant of a cluster.")
    private boolean wide;

    @Option(names = "--json", description = "Writes JSON.")
    private boolean json;

    @Override
    public void run() {
        SeenTenants tenants = new SeenTenants(System.getenv());
        EarlierLook earlier = look(tenants);
        Instant now = Instant.now();
        List<Tenant> shown = tenants.sweep().stream().filter(tenant -> all || tenant.state().lives()).toList();
        PrintWriter out = spec.commandLine().getOut();
        PrintWriter err = spec.commandLine().getErr();
        if (json) {
            Json.write(out, json -> TenantJson.write(json, shown, earlier, tenants.boards()));
        } else if (shown.isEmpty()) {
            err.println(all ? "No tenants." : "No tenants are running; 'sluice run --memory 4g -- PROGRAM' starts one.");
        } else {
            out.println(String.join(System.lineSeparator(), wide ? PsTable.wide(shown, earlier, now, Screen.standard(), tenants.claims()) : PsTable.lines(shown, earlier, now, Screen.standard())));
        }
        if (!json) {
            tenants.audit().flatMap(AuditText::footer).ifPresent(out::println);
        }
        tenants.unreadable().forEach(reason -> err.println("sluice: " + reason));
    }

    private EarlierLook look(SeenTenants tenants) {
        if (over == null) {
            return EarlierLook.NONE;
        }
        EarlierLook look = EarlierLook.at(tenants.list());
        try {
            Thread.sleep(over);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        return look;
    }
}
