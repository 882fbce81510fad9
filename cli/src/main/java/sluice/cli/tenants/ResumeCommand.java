package sluice.cli.tenants;

import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;
import sluice.api.model.Operation;
import sluice.cli.output.AnyCommand;

@Command(
        name = "resume",
        header = "Lets a paused tenant run again, with its memory back on the GPU.",
        customSynopsis = "sluice resume TENANT [OPTIONS]",
        description = {
            "",
            "  sluice resume train",
            "",
            "Where the GPU has no room for its memory, the tenant waits until there is. After --timeout, and after Ctrl-C,",
            "it goes on in the background; 'sluice ps' shows how far it is.",
            ""
        },
        footer = {"", "Exit status: 0 it runs, 1 failed, or there is no such tenant, 2 usage, 124 not done within --timeout, 130 Ctrl-C."})
public final class ResumeCommand extends AnyCommand implements Callable<Integer> {
    @Parameters(paramLabel = "TENANT", description = "Name, beginning of a name, pid, or path of a region file.")
    private String tenant;

    @Mixin
    private WaitOptions waiting;

    @Override
    public Integer call() {
        return waiting.operate(spec, tenant, Operation.Kind.RESUME);
    }
}
