package sluice.cli.proof;

import java.io.PrintWriter;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.ThreadLocalRandom;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import sluice.cli.output.AnyCommand;
import sluice.cli.output.ExitStatus;
import sluice.proof.soak.Soak;
import sluice.proof.stage.Environment;
import sluice.region.place.Installation;

@Command(
        name = "soak",
        hidden = true,
        header = "For developers of Sluice: processes take and give back memory at random for a long time.",
        footer = {"", "Exit status: 0 the ledger always equalled the simulated driver's figure, 1 it did not."})
public final class SoakCommand extends AnyCommand implements Callable<Integer> {
    @Option(names = "--sim", description = "Uses the simulated GPU; the only one that can be used.")
    private boolean simulated;

    @Option(names = "--for", paramLabel = "TIME", description = "How long, such as 90s or 30m; default 1m.")
    private Duration duration = Duration.ofMinutes(1);

    @Option(names = "--processes", paramLabel = "N", description = "How many at a time; default 16.")
    private int processes = 16;

    @Option(names = "--seed", paramLabel = "N", description = "Seed of the random numbers; a new one each time if not given.")
    private long seed = ThreadLocalRandom.current().nextInt(1, 1_000_000);

    @Override
    public Integer call() {
        PrintWriter out = spec.commandLine().getOut();
        out.println("seed " + seed);
        Soak.run(Environment.of(Installation.find(), simulated), new Soak.Options(duration, processes, seed), out::println);
        return ExitStatus.OK;
    }
}
