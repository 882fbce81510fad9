package sluice.cli;

import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.UnmatchedArgumentException;
import sluice.cli.output.AnyCommand;

@Command(
        name = "help",
        header = "Tells more about a command.",
        helpCommand = true,
        description = "")
final class HelpCommand extends AnyCommand implements Runnable {
    @Parameters(paramLabel = "COMMAND", arity = "0..*", description = "A command, as in 'help run' or 'help trace convert'; without it, the list of all commands.")
    private List<String> words = new ArrayList<>();

    @Override
    public void run() {
        CommandLine command = spec.parent().commandLine();
        for (String word : words) {
            CommandLine next = command.getSubcommands().get(word);
            if (next == null) {
                throw new UnmatchedArgumentException(command, List.of(word));
            }
            command = next;
        }
        command.usage(spec.commandLine().getOut());
    }
}
