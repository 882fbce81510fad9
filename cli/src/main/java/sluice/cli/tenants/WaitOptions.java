package sluice.cli.tenants;

import java.io.PrintWriter;
import java.time.Duration;
import java.util.Optional;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import sluice.api.json.OperationJson;
import sluice.api.model.Operation;
import sluice.api.pause.FollowedOperation;
import sluice.api.pause.PauseBody;
import sluice.cli.output.ExitStatus;
import sluice.cli.output.Json;
import sluice.cli.output.Progress;
import sluice.cli.process.Interrupt;
import sluice.cli.tables.OperationText;
import sluice.region.Tenant;

/// The options of `pause` and `resume`, and what both do: ask the tenant, wait, and say what came of it.
public final class WaitOptions {
    @Option(names = "--wait", negatable = true, defaultValue = "true", fallbackValue = "true",
            description = "Waits until it is done (default), or only asks for it.")
    private boolean wait;

    @Option(names = "--timeout", paramLabel = "TIME", description = "Waits no longer than this, such as 30s or 5m.")
    private Duration timeout;

    @Option(names = "--json", description = "Writes JSON.")
    private boolean json;

    int operate(CommandSpec spec, String wanted, Operation.Kind kind) {
        SeenTenants tenants = new SeenTenants(System.getenv());
        Tenant tenant = tenants.find(wanted);
        try (Interrupt interrupt = new Interrupt(); Progress progress = Progress.standard()) {
            Optional<String> lacking = kind.isPause() ? Optional.empty()
                    : new RestoreWait(tenants).lacking(tenant, wait ? timeout : Duration.ZERO, interrupt::requested, progress);
            if (lacking.isPresent()) {
                progress.clear();
                spec.commandLine().getErr().println("sluice: " + lacking.get());
                return interrupt.requested() ? ExitStatus.INTERRUPTED : wait ? ExitStatus.TIMED_OUT : ExitStatus.CHECK_FAILED;
            }
            FollowedOperation operation = tenants.operate(tenant, new PauseBody(kind, Optional.ofNullable(wait ? timeout : null)));
            OperationWait following = new OperationWait(operation, timeout, interrupt::requested, progress, spec.commandLine().getErr());
            Operation last = wait ? following.last() : operation.look();
            progress.clear();
            tell(spec, last, tenants.isLookedFor(tenant));
            return status(last, interrupt.requested());
        }
    }

    /// @param lookedFor whether somebody looks for room when this command has ended
    private void tell(CommandSpec spec, Operation last, boolean lookedFor) {
        PrintWriter out = spec.commandLine().getOut();
        PrintWriter err = spec.commandLine().getErr();
        if (json) {
            Json.write(out, generator -> OperationJson.write(generator, last));
        } else if (last.state() == Operation.State.DONE) {
            out.println(OperationText.result(last, lookedFor));
        } else if (last.runs() && !wait) {
            out.println(OperationText.asked(last, lookedFor));
        } else {
            err.println("sluice: " + OperationText.result(last, lookedFor));
        }
    }

    /// Whatever else has happened, a tenant that is where it was to be is fine.
    private int status(Operation last, boolean interrupted) {
        return switch (last.state()) {
            case DONE -> ExitStatus.OK;
            case FAILED -> ExitStatus.CHECK_FAILED;
            case RUNNING -> !wait ? ExitStatus.OK : interrupted ? ExitStatus.INTERRUPTED : ExitStatus.TIMED_OUT;
            case WITHDRAWN -> interrupted ? ExitStatus.INTERRUPTED : isLate(last) ? ExitStatus.TIMED_OUT : ExitStatus.CHECK_FAILED;
        };
    }

    private boolean isLate(Operation last) {
        return timeout != null && last.endedNanos() - last.beganNanos() >= timeout.toNanos();
    }
}
