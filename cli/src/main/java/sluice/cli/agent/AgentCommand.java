package sluice.cli.agent;

import java.io.PrintWriter;
import java.nio.file.Path;
import java.time.LocalTime;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import sluice.api.model.PlannedBoard;
import sluice.api.program.AgentProgram;
import sluice.cli.output.AnyCommand;
import sluice.cli.output.ExitStatus;
import sluice.cli.output.Text;
import sluice.region.place.AgentLock;
import sluice.region.place.Identity;
import sluice.region.place.RuntimeDirectory;
import sluice.region.place.SluiceException;

@Command(
        name = "agent",
        header = "Plans turns, and answers queries about the GPUs of this machine, until it is stopped.",
        description = {
            "",
            "Every 100 ms it reads how much GPU time each tenant got, and sets the length of its turns. Once a second it",
            "looks at the whole machine and keeps a history. It answers HTTP on a Unix socket (docs/agent.md). It takes",
            "over running tenants, and leaves its last plan when it is stopped. No job depends on it: without it turns",
            "have the length that a tenant asks for times its weight, and caps hold as well.",
            ""
        },
        footer = {"", "Exit status: 0 stopped by SIGINT or SIGTERM, 1 another agent runs, a bad config file, or it cannot work."})
public final class AgentCommand extends AnyCommand implements Runnable {
    private static final long STOP_SECONDS = 5;

    @Option(names = {"-v", "--verbose"}, description = "Writes a line for every plan that differs from the one before.")
    private boolean verbose;

    @Option(names = "--config", paramLabel = "FILE",
            description = "Config file; if not given ~/.config/sluice/agent.conf or /etc/sluice/agent.conf, if there is one.")
    private Path config;

    @Option(names = "--check", description = "Reads the config file, shows all settings, and starts nothing.")
    private boolean check;

    @Override
    public void run() {
        AgentProgram program = AgentProgram.find();
        Optional<Path> file = Optional.ofNullable(config).or(() -> program.usualConfig(System.getenv()));
        PrintWriter out = spec.commandLine().getOut();
        AgentProgram.Configured configured = configure(program, file);
        if (check) {
            out.println("# " + file.map(found -> found + " is fine. What holds:").orElse("There is no config file. What holds:"));
            configured.settings().forEach(out::println);
            return;
        }
        RuntimeDirectory directory = RuntimeDirectory.find(System.getenv());
        AgentLock lock = AgentLock.take(directory, Identity.self().pid()).orElseThrow(() -> runsAlready(directory));
        CountDownLatch stop = new CountDownLatch(1);
        CountDownLatch stopped = new CountDownLatch(1);
        Runtime.getRuntime().addShutdownHook(new Thread(() -> end(stop, stopped)));
        try (lock; AgentProgram.Running agent = configured.open(directory, System.getenv(), change -> report(out, change), System.err)) {
            out.println("Planning for the tenants in " + directory.path() + "; answers on " + agent.places() + ".");
            out.flush();
            agent.start();
            stop.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        stopped.countDown();
    }

    /// Each error has its own line. The command ends with the last of them.
    private AgentProgram.Configured configure(AgentProgram program, Optional<Path> file) {
        try {
            return program.configure(file);
        } catch (SluiceException e) {
            List<String> problems = e.getMessage().lines().toList();
            problems.subList(0, problems.size() - 1).forEach(problem -> spec.commandLine().getErr().println("sluice: " + problem));
            throw new SluiceException(problems.getLast(), e);
        }
    }

    private static SluiceException runsAlready(RuntimeDirectory directory) {
        return new SluiceException("an agent runs already for " + directory.path()
                + AgentLock.holder(directory).map(pid -> " (pid " + pid + ")").orElse("") + "; one is enough for all GPUs");
    }

    /// In the JVM's last thread, after SIGINT or SIGTERM. An agent ends by such a signal, so its exit status is 0.
    private static void end(CountDownLatch stop, CountDownLatch stopped) {
        stop.countDown();
        try {
            if (stopped.await(STOP_SECONDS, TimeUnit.SECONDS)) {
                Runtime.getRuntime().halt(ExitStatus.OK);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void report(PrintWriter out, PlannedBoard change) {
        if (verbose) {
            out.println(LocalTime.now().truncatedTo(ChronoUnit.SECONDS) + " " + line(change));
            out.flush();
        }
    }

    static String line(PlannedBoard change) {
        List<String> turns = change.turns().stream().map(turn -> Text.visible(turn.tenant()) + " " + Text.duration(turn.lengthNanos())).toList();
        return change.uuid() + ": " + (turns.isEmpty() ? "nobody takes turns" : String.join(", ", turns));
    }
}
