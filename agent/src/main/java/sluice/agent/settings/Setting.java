package sluice.agent.settings;

import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.function.Function;
import sluice.region.limits.Size;
import sluice.region.place.SluiceException;

/// A setting of the config file.
///
/// @param standard the default, in the same syntax as in the file
/// @param help     one line
/// @param parser   throws a [SluiceException] that names the value and says what to write
public record Setting<T>(String name, String standard, String help, Function<String, T> parser) {

    /// `100ms`, `1s`, `2m`, `6h`.
    public static Setting<Duration> time(String name, String standard, Duration least, Duration most, String help) {
        return new Setting<>(name, standard, help, text -> {
            Duration time = time(text);
            if (time.compareTo(least) < 0 || time.compareTo(most) > 0) {
                throw new SluiceException("'" + text + "' is out of range; write " + format(least) + " to " + format(most));
            }
            return time;
        });
    }

    private static Duration time(String text) {
        int digits = 0;
        while (digits < text.length() && Character.isDigit(text.charAt(digits))) {
            digits++;
        }
        long number = digits == 0 || digits > 9 ? -1 : Long.parseLong(text.substring(0, digits));
        Duration unit = switch (text.substring(digits).strip()) {
            case "ms" -> Duration.ofMillis(1);
            case "s" -> Duration.ofSeconds(1);
            case "m" -> Duration.ofMinutes(1);
            case "h" -> Duration.ofHours(1);
            default -> null;
        };
        if (number < 0 || unit == null) {
            throw new SluiceException("'" + text + "' is no time; write a number and a unit, as in 100ms, 1s, 2m or 6h");
        }
        return unit.multipliedBy(number);
    }

    private static String format(Duration time) {
        long millis = time.toMillis();
        return millis % 3_600_000 == 0 ? millis / 3_600_000 + "h" : millis % 60_000 == 0 ? millis / 60_000 + "m"
                : millis % 1000 == 0 ? millis / 1000 + "s" : millis + "ms";
    }

    public static Setting<Integer> number(String name, String standard, int least, int most, String help) {
        return new Setting<>(name, standard, help, text -> number(text, least, most));
    }

    private static int number(String text, int least, int most) {
        boolean digits = !text.isEmpty() && text.length() < 10 && text.chars().allMatch(Character::isDigit);
        long number = digits ? Long.parseLong(text) : -1;
        if (!digits || number < least || number > most) {
            throw new SluiceException("'" + text + "' is not from " + least + " to " + most + "; write a whole number");
        }
        return (int) number;
    }

    /// `off`, which is 0, or a number.
    public static Setting<Integer> numberOrOff(String name, String standard, int least, int most, String help) {
        return new Setting<>(name, standard, help, text -> text.equals("off") ? 0 : number(text, least, most));
    }

    /// `16m`, `2g`.
    public static Setting<Long> size(String name, String standard, String help) {
        return new Setting<>(name, standard, help, Size::parse);
    }

    /// The same, up to a bound.
    public static Setting<Long> size(String name, String standard, long most, String help) {
        return new Setting<>(name, standard, help, text -> {
            long size = Size.parse(text);
            if (size > most) {
                throw new SluiceException("'" + text + "' is too much; write at most " + (most >> 20) + "m");
            }
            return size;
        });
    }

    public static Setting<Boolean> yesNo(String name, String standard, String help) {
        return new Setting<>(name, standard, help, text -> switch (text) {
            case "yes", "true", "on" -> true;
            case "no", "false", "off" -> false;
            default -> throw new SluiceException("'" + text + "' is neither yes nor no; write one of them");
        });
    }

    /// One of some words.
    public static Setting<String> word(String name, String standard, List<String> words, String help) {
        return new Setting<>(name, standard, help, text -> {
            if (!words.contains(text)) {
                throw new SluiceException("'" + text + "' is not known; write " + String.join(" or ", words));
            }
            return text;
        });
    }

    /// A path that begins with `/`; empty for none.
    public static Setting<Path> path(String name, String standard, String help) {
        return new Setting<>(name, standard, help, text -> {
            if (!text.isEmpty() && !text.startsWith("/") || text.indexOf('\0') >= 0) {
                throw new SluiceException("'" + text + "' is no full path; begin it with /");
            }
            return Path.of(text);
        });
    }

    /// Words with commas between them; empty for none.
    public static <E> Setting<List<E>> list(String name, String standard, Function<String, E> element, String help) {
        return new Setting<>(name, standard, help, text -> text.isBlank() ? List.of()
                : Arrays.stream(text.split(",", -1)).map(String::strip).map(element).toList());
    }
}
