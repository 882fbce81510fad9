package sluice.cli;

import picocli.AutoComplete;
import picocli.CommandLine.Command;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import sluice.cli.output.AnyCommand;

@Command(
        name = "completion",
        header = "Prints a completion script for a shell.",
        description = {"", "  source <(sluice completion bash)", ""})
final class CompletionCommand extends AnyCommand implements Runnable {
    @Parameters(paramLabel = "SHELL", description = "bash or zsh.")
    private String shell;

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
