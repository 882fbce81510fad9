package sluice.cli;

import picocli.AutoComplete;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

@Command(
        name = "completion",
        header = "Prints a completion script for a shell.",
        description = {"", "  source <(sluice completion bash)", ""})
final class CompletionCommand implements Runnable {
    @Spec
    private CommandSpec spec;

    @Parameters(paramLabel = "SHELL", description = "bash or zsh.")
    private String shell;

    @Option(names = {"-h", "--help"}, usageHelp = true, description = "Shows this help.")
    private boolean help;

    @Override
    public void run() {
        if (!shell.equals("bash") && !shell.equals("zsh")) {
            throw new ParameterException(spec.commandLine(), "no completion for the shell '" + shell + "'; use bash or zsh");
        }
        // One script for both: it turns on zsh's mode for bash completions itself.
        spec.commandLine().getOut().print(AutoComplete.bash("sluice", spec.root().commandLine()));
        spec.commandLine().getOut().flush();
    }
}
