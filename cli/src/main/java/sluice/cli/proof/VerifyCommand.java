package sluice.cli.proof;

import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import sluice.cli.output.AnyCommand;
import sluice.cli.output.ExitStatus;
import sluice.cli.output.Progress;
import sluice.cli.output.Screen;
import sluice.cli.process.Interrupt;
import sluice.proof.Verify;
import sluice.proof.bench.Standstill;
import sluice.proof.checks.Check;
import sluice.proof.checks.Group;
import sluice.proof.checks.Result;
import sluice.proof.stage.Environment;
import sluice.proof.stage.Interrupted;
import sluice.region.place.Installation;
import sluice.region.place.SluiceException;

@Command(
        name = "verify",
        header = "Proves on this machine and driver that limits hold.",
        customSynopsis = "sluice verify [OPTIONS] [GROUP...]",
        description = {"", "Without a GPU that works, on the simulated one. Without a GROUP all checks are made.", ""})
public final class VerifyCommand extends AnyCommand implements Callable<Integer> {
    @Parameters(paramLabel = "GROUP", arity = "0..*", description = "Which checks; all if none is given. Groups are listed below.")
    private List<String> groups = new ArrayList<>();

    @Option(names = "--sim", description = "Uses the simulated GPU.")
    private boolean simulated;

    @Option(names = "--json", description = "Writes JSON.")
    private boolean json;

    @Option(names = "--markdown", hidden = true, description = "Writes the page about memory of the documentation.")
    private boolean markdown;

    @Override
    public Integer call() {
        PrintWriter out = spec.commandLine().getOut();
        PrintWriter err = spec.commandLine().getErr();
        if (markdown) {
            out.print(Verify.page());
            out.flush();
            return ExitStatus.OK;
        }
        List<Check> checks = chosen();
        AtomicInteger done = new AtomicInteger();
        try (Interrupt _ = new Interrupt()) {
            try {
                return verify(checks, done, out, err);
            } catch (Interrupted e) {
                (json ? err : out).println(VerifyText.interrupted(done.get(), checks.size()));
                return ExitStatus.INTERRUPTED;
            }
        }
    }

    private int verify(List<Check> checks, AtomicInteger done, PrintWriter out, PrintWriter err) {
        Environment environment = GpuChoice.of(Installation.find(), simulated, err);
        VerifyText text = new VerifyText(checks, Screen.standard());
        List<Result> results;
        try (Progress progress = Progress.standard()) {
            progress.step(checks.getFirst().name());
            results = Verify.run(environment, checks, result -> {
                progress.clear();
                if (!json) {
                    text.lines(result).forEach(out::println);
                }
                if (done.incrementAndGet() < checks.size()) {
                    progress.step(checks.get(done.get()).name());
                }
            });
        }
        if (json) {
            VerifyText.writeJson(out, environment.simulated(), results);
        } else {
            out.println(text.summary(results));
            if (IntStream.range(0, results.size()).anyMatch(i -> results.get(i).failed() && checks.get(i).isTimed())) {
                VerifyText.blame(Standstill.measure()).ifPresent(out::println);
            }
        }
        return results.stream().anyMatch(Result::failed) ? ExitStatus.CHECK_FAILED : ExitStatus.OK;
    }

    private List<Check> chosen() {
        try {
            return Verify.checks(groups);
        } catch (SluiceException e) {
            throw new ParameterException(spec.commandLine(), e.getMessage(), e);
        }
    }

    /// Adds a line for each group to the help.
    public static void listGroups(CommandSpec verify) {
        List<String> lines = new ArrayList<>(List.of("", "Groups:", "  memory     everything about memory"));
        for (Group group : Group.values()) {
            lines.add(String.format("  %-9s  %s", group.word(), group.about()));
        }
        lines.addAll(List.of("", "Exit status: 0 all checks hold, 1 one does not, 2 usage, 130 interrupted."));
        verify.usageMessage().footer(lines.toArray(String[]::new));
    }
}
