package sluice.cli.tenants;

import java.io.PrintWriter;
import java.time.Duration;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import sluice.api.json.StatJson;
import sluice.cli.output.AnyCommand;
import sluice.cli.output.Json;
import sluice.cli.output.Screen;
import sluice.cli.tables.StatText;
import sluice.region.Tenant;
import sluice.region.calls.TenantCalls;

@Command(
        name = "stat",
        header = "Shows a tenant's use of its GPUs: calls, errors and time by function, copies, kernels, waits, memory.",
        description = {
            "",
            "The library always counts: all processes of the tenant from its start, also those that have ended.",
            "TIME is the host time of the calls, with their waits at the gate. The library measures BUSY for tenants that",
            "share the GPU's time. It only reads, and also shows ended tenants for as long as they are kept.",
            ""
        })
public final class StatCommand extends AnyCommand implements Runnable {
    private static final Duration BETWEEN_LOOKS = Duration.ofSeconds(1);
    private static final String HOME_AND_CLEAR = "\033[H\033[J";

    @Parameters(paramLabel = "TENANT", description = "Name, beginning of a name, pid, or path of a region file.")
    private String tenant;

    @Option(names = {"-w", "--watch"}, description = "Looks again every second until the tenant ends, and shows calls in a second.")
    private boolean watch;

    @Option(names = "--top", paramLabel = "N", defaultValue = "20",
            description = "Shows the N functions that took the most time; 0 shows all. (default: 20)")
    private int top;

    @Option(names = "--json", description = "Writes JSON, with all functions; with --watch one object for each look.")
    private boolean json;

    @Override
    public void run() {
        if (top < 0) {
            throw new ParameterException(spec.commandLine(), "--top must be 0 or more, not " + top);
        }
        SeenTenants tenants = new SeenTenants(System.getenv());
        Tenant now = tenants.find(tenant);
        Screen screen = Screen.standard();
        TenantCalls earlier = null;
        boolean again = watch;
        do {
            now = tenants.now(now);
            TenantCalls calls = tenants.calls(now);
            show(now, calls, earlier, screen);
            earlier = calls;
            again &= now.state().lives() && pause();
        } while (again);
    }

    private void show(Tenant now, TenantCalls calls, TenantCalls earlier, Screen screen) {
        PrintWriter out = spec.commandLine().getOut();
        if (json) {
            Json.write(out, json -> StatJson.write(json, now, calls));
            return;
        }
        if (watch && screen.terminal()) {
            out.print(HOME_AND_CLEAR);
        } else if (earlier != null) {
            out.println();
        }
        StatText.lines(now, calls, earlier, top, screen).forEach(out::println);
        out.flush();
    }

    private static boolean pause() {
        try {
            Thread.sleep(BETWEEN_LOOKS);
            return true;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }
}
