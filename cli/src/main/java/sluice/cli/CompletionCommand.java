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

    @Parameters(paramLabel = "bash|zsh", description = "The shell.")
    private String shell;

    @Option(names = {"-h", "--help"}, usageHelp = true, description = "Shows this help.")
    private boolean help;

    @Override
    public void run() {
        if (!shell.equals("bash") && !shell.equals("zsh")) {
            throw new ParameterException(spec.commandLine(), "no completion for the shell '" + shell + "'; use bash or zsh");
        }
        String script = AutoComplete.bash("sluice", spec.root().commandLine());
        spec.commandLine().getOut().print(shell.equals("zsh") ? zsh(script) : script);
        spec.commandLine().getOut().flush();
    }

    /// zsh runs bash's script once its bash mode is on; picocli's script turns it on itself.
    private static String zsh(String script) {
        return "autoload -U +X compinit && compinit -u\n" + script;
    }
}
