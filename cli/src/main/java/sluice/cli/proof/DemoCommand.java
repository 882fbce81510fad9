package sluice.cli.proof;

import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import sluice.cli.output.AnyCommand;
import sluice.cli.output.ExitStatus;
import sluice.cli.output.Screen;
import sluice.proof.demo.Demo;
import sluice.proof.stage.Environment;
import sluice.region.place.Installation;

@Command(
        name = "demo",
        header = "Shows two jobs with different quotas on one GPU.",
        description = {"", "Without a GPU that works, on the simulated one. It ends by itself in under a minute.", ""})
public final class DemoCommand extends AnyCommand implements Callable<Integer> {
    @Option(names = "--sim", description = "Uses the simulated GPU.")
    private boolean simulated;

    @Override
    public Integer call() {
        Environment environment = GpuChoice.of(Installation.find(), simulated, spec.commandLine().getErr());
        boolean held = Demo.run(environment, System.out, Screen.standard().terminal());
        return held ? ExitStatus.OK : ExitStatus.CHECK_FAILED;
    }
}
