package sluice.it.machine;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;

/// Lower bounds of speed and of fairness, which a busy machine may spoil: they are looked at up to three times. Each is noted in a file, and
/// `LowerBoundsTest` fails the build when too many needed more than one look. A bound of safety (quota passed, cap overshot, two holders, bytes
/// lost) is asserted outside of this class or inside a look. What a look throws is never tried again.
public final class Again {
    public static final String ONCE = "once";
    public static final String AGAIN = "again";
    private static final int LOOKS = 3;

    public interface Look<T> {
        T take() throws Exception;
    }

    private Again() {}

    /// Where the bounds of this build are noted.
    public static Path notes() {
        return Path.of(System.getProperty("sluice.bounds", "target/lower-bounds"));
    }

    /// Looks until the bound holds. Gives what was seen last.
    public static <T> T until(Predicate<T> holds, Look<T> look) throws Exception {
        List<T> seen = new ArrayList<>(List.of(look.take()));
        while (seen.size() < LOOKS && !holds.test(seen.getLast())) {
            seen.add(look.take());
        }
        note(seen);
        return seen.getLast();
    }

    /// Of shares, where neither side is a bound of safety.
    public static void between(double least, double most, Look<Double> look) throws Exception {
        assertThat(until(seen -> seen >= least && seen <= most, look)).isBetween(least, most);
    }

    /// More is never right, and fails at once; less may be the machine's fault.
    public static void atMost(double most, double least, Look<Double> look) throws Exception {
        assertThat(until(seen -> seen >= least, () -> {
            double seen = look.take();
            assertThat(seen).isLessThanOrEqualTo(most);
            return seen;
        })).isGreaterThanOrEqualTo(least);
    }

    /// Less is never right, and fails at once; more may be the machine's fault.
    public static void atLeast(double least, double most, Look<Double> look) throws Exception {
        assertThat(until(seen -> seen <= most, () -> {
            double seen = look.take();
            assertThat(seen).isGreaterThanOrEqualTo(least);
            return seen;
        })).isLessThanOrEqualTo(most);
    }

    private static void note(List<?> seen) throws IOException {
        String test = StackWalker.getInstance().walk(frames -> frames.filter(frame -> !frame.getClassName().equals(Again.class.getName()))
                .map(frame -> frame.getFileName() + ":" + frame.getLineNumber() + " " + frame.getMethodName())
                .findFirst().orElse("unknown"));
        String text = seen.toString().replace('\n', ' ');
        Files.writeString(notes(), (seen.size() == 1 ? ONCE : AGAIN) + " " + test + " saw " + text + "\n", StandardOpenOption.CREATE,
                StandardOpenOption.APPEND);
    }
}
