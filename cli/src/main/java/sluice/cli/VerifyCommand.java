package sluice.cli;

import java.io.PrintWriter;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;
import sluice.proof.Check;
import sluice.proof.Environment;
import sluice.proof.Result;
import sluice.proof.Verify;
import sluice.region.Installation;

@Command(
        name = "verify",
        header = "Proves on this machine and driver that quotas hold.",
        description = {"", "Without a GPU that works, on the simulated one.", ""},
        footer = {"", "Exit status: 0 all checks hold, 1 one does not."})
final class VerifyCommand implements Callable<Integer> {
    @Spec
    private CommandSpec spec;

    @Option(names = "--sim", description = "Uses the simulated GPU.")
    private boolean simulated;

    @Option(names = "--json", description = "Writes JSON.")
    private boolean json;

    @Option(names = {"-h", "--help"}, usageHelp = true, description = "Shows this help.")
    private boolean help;

    @Override
    public Integer call() {
        PrintWriter out = spec.commandLine().getOut();
        PrintWriter err = spec.commandLine().getErr();
        Environment environment = GpuChoice.of(Installation.find(), simulated, err);
        List<Check> checks = Verify.checks();
        VerifyText text = new VerifyText(checks, Screen.standard());
        List<Result> results;
        try (Progress progress = Progress.standard()) {
            progress.step(checks.getFirst().name());
            int[] done = {0};
            results = Verify.run(environment, checks, result -> {
                progress.clear();
                if (!json) {
                    text.lines(result).forEach(out::println);
                }
                if (++done[0] < checks.size()) {
                    progress.step(checks.get(done[0]).name());
                }
            });
        }
        if (json) {
            VerifyText.writeJson(out, environment.simulated(), results);
        } else {
            out.println(text.summary(results));
        }
        return results.stream().anyMatch(Result::failed) ? ExitStatus.CHECK_FAILED : ExitStatus.OK;
    }
}
