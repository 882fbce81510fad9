package sluice.proof.bench.lock;

import java.math.BigDecimal;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import sluice.region.place.SluiceException;

/// A setting of the experiment, by culocker's number. 2 is the short task alone, 3 both tasks without the library, 4 a hold for each
/// operation of the long task. Any other number is the long task's window in milliseconds.
///
/// @param label as it stands in the files
public record LockWindow(String label) {
    private static final String ALONE = "2";
    private static final String BARE = "3";
    private static final String EACH = "4";
    private static final BigDecimal LONGEST_MILLIS = BigDecimal.ONE;

    /// Those of culocker's experiment.
    public static final List<LockWindow> ALL = Stream.of(ALONE, BARE, "0.001", "0.01", "0.0125", "0.014", "0.05", "0.08", "0.1", "0.2", EACH)
            .map(LockWindow::new).toList();

    public static LockWindow parse(String text) {
        if (List.of(ALONE, BARE, EACH).contains(text)) {
            return new LockWindow(text);
        }
        try {
            BigDecimal millis = new BigDecimal(text);
            if (millis.signum() > 0 && millis.compareTo(LONGEST_MILLIS) <= 0) {
                return new LockWindow(millis.stripTrailingZeros().toPlainString());
            }
        } catch (NumberFormatException e) {
            // Said below.
        }
        throw new SluiceException("bad window '" + text + "'; write 2, 3, 4, or milliseconds up to 1 such as 0.05");
    }

    boolean hasLongTask() {
        return !label.equals(ALONE);
    }

    boolean hasLibrary() {
        return hasLongTask() && !label.equals(BARE);
    }

    /// The short task keeps the GPU until it is done.
    static Map<String, String> shortSwitches() {
        return Map.of("CUDA_OVERRIDE_MAX_SYNC_MS", "2", "CUDA_OVERRIDE_SYNC_LOCK_SKIPS", "1");
    }

    Map<String, String> longSwitches() {
        return label.equals(EACH) ? Map.of("CUDA_OVERRIDE_KERNEL_N_SYNC", "0") : Map.of("CUDA_OVERRIDE_MAX_SYNC_MS", label);
    }

    public String text() {
        return switch (label) {
            case ALONE -> "alone";
            case BARE -> "no library";
            case EACH -> "each operation";
            default -> label + " ms";
        };
    }
}
