package sluice.cli;

import java.nio.file.InvalidPathException;
import java.util.List;
import java.util.Locale;
import picocli.CommandLine;
import picocli.CommandLine.MissingParameterException;
import picocli.CommandLine.Model.ArgSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.UnmatchedArgumentException;
import sluice.region.place.SluiceException;

/// Makes one line for an error: what is wrong, and which word was probably meant.
final class ErrorLine {
    private ErrorLine() {}

    /// The line for a failure of a command.
    static String of(RuntimeException e) {
        return e instanceof InvalidPathException path
                ? "the path '" + path.getInput() + "' holds characters that the locale cannot express; set LC_ALL=C.UTF-8"
                : e.getMessage();
    }

    /// The line for wrong arguments. Ends with the words before the name of the command that helps.
    static String usage(ParameterException e) {
        String line = what(e);
        return line + (line.endsWith("?") ? " See" : "; see");
    }

    private static String what(ParameterException e) {
        return switch (e) {
            case UnmatchedArgumentException unmatched -> unmatched(unmatched);
            case MissingParameterException missing -> missing(missing);
            default -> e.getCause() instanceof SluiceException cause ? refused(e, cause) : flat(e.getMessage());
        };
    }

    private static String refused(ParameterException e, SluiceException cause) {
        return (e.getArgSpec() instanceof OptionSpec option ? option.longestName() + ": " : "") + cause.getMessage();
    }

    private static String unmatched(UnmatchedArgumentException e) {
        String argument = e.getUnmatched().getFirst();
        CommandLine command = e.getCommandLine();
        boolean option = argument.startsWith("-");
        boolean subcommand = !option && !command.getSubcommands().isEmpty();
        String what = (option ? "unknown option '" : subcommand ? "unknown command '" : "unexpected argument '") + argument + "'";
        List<String> known = option
                ? List.copyOf(command.getCommandSpec().optionsMap().keySet())
                : List.copyOf(command.getSubcommands().keySet());
        return Suggestion.nearest(argument, known).map(meant -> what + "; did you mean " + meant + "?").orElse(what);
    }

    private static String missing(MissingParameterException e) {
        ArgSpec missing = e.getMissing().getFirst();
        return missing instanceof OptionSpec option
                ? "option " + option.longestName() + " needs a value " + option.paramLabel()
                : "the " + missing.paramLabel().toLowerCase(Locale.ROOT) + " is missing";
    }

    private static String flat(String message) {
        return message.replace('\n', ' ').replace('\r', ' ');
    }
}
