package sluice.cli.tenants;

import java.util.concurrent.Callable;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import sluice.api.model.Operation;
import sluice.cli.output.AnyCommand;

@Command(
        name = "pause",
        header = "Pauses a tenant: it submits no more work to its GPUs.",
        customSynopsis = "sluice pause TENANT [--release | --vacate] [OPTIONS]",
        description = {
            "",
            "  sluice pause train --release",
            "",
            "Calls of the program that need the GPU wait until 'sluice resume'; what runs on the GPU ends. A paused tenant can",
            "be released and vacated by another pause. A pause that is not done within --timeout, that a process refuses,",
            "or that Ctrl-C breaks off is withdrawn: the tenant does what it did before.",
            ""
        },
        footer = {"", "Exit status: 0 paused, 1 refused, or there is no such tenant, 2 usage, 124 not done within --timeout, 130 Ctrl-C."})
public final class PauseCommand extends AnyCommand implements Callable<Integer> {
    @Parameters(paramLabel = "TENANT", description = "Name, beginning of a name, pid, or path of a region file.")
    private String tenant;

    @ArgGroup
    private Deeper deeper;

    @Mixin
    private WaitOptions waiting;

    /// At most one of them.
    private static final class Deeper {
        @Option(names = "--release", description = "Moves its memory to host memory too.")
        private boolean release;

        @Option(names = "--vacate", description = "Takes the driver's own state off the GPU too: contexts, code, pools, arrays.")
        private boolean vacate;
    }

    @Override
    public Integer call() {
        Operation.Kind kind = deeper == null ? Operation.Kind.HOLD : deeper.vacate ? Operation.Kind.VACATE : Operation.Kind.RELEASE;
        return waiting.operate(spec, tenant, kind);
    }
}
