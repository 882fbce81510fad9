package sluice.cli;

import java.time.Duration;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import picocli.CommandLine;
import sluice.region.place.SluiceException;

/// Parsers for option types, for all commands.
public final class OptionTypes {
    private static final Pattern TIME = Pattern.compile("(\\d{1,6})(ms|[smh])");

    private OptionTypes() {}

    public static void teach(CommandLine line) {
        line.registerConverter(Duration.class, OptionTypes::time);
    }

    private static Duration time(String text) {
        Matcher time = TIME.matcher(text);
        if (!time.matches()) {
            throw new SluiceException("bad time '" + text + "'; write it like 500ms, 90s, 30m or 2h");
        }
        long number = Long.parseLong(time.group(1));
        return switch (time.group(2)) {
            case "ms" -> Duration.ofMillis(number);
            case "s" -> Duration.ofSeconds(number);
            case "m" -> Duration.ofMinutes(number);
            default -> Duration.ofHours(number);
        };
    }
}
