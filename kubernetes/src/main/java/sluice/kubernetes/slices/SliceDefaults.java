package sluice.kubernetes.slices;

import java.util.regex.Matcher;
import java.util.regex.Pattern;
import sluice.kubernetes.cluster.Quantity;
import sluice.region.place.SluiceException;

/// What a claim gets that names no amount, and `sluice.dev/gpu: 1` without a claim.
///
/// @param memory  a quantity such as `8Gi`, or a percentage of what the GPU advertises
/// @param compute percent of the GPU's time; 0 is no cap
public record SliceDefaults(String memory, int compute) {
    /// A whole GPU's memory, shared by weights.
    public static final SliceDefaults SHIPPED = new SliceDefaults("100%", 0);
    private static final Pattern PERCENT = Pattern.compile("([1-9][0-9]?|100)%");
    private static final int WHOLE = 100;

    /// Fails with a sentence that names the option.
    public static SliceDefaults parse(String memory, String compute) {
        if (!PERCENT.matcher(memory).matches() && Quantity.parse("--default-memory", memory) <= 0) {
            throw new SluiceException("--default-memory '" + memory + "' is nothing; write it like 8Gi or 50%");
        }
        if (!compute.matches("[0-9]{1,3}") || Integer.parseInt(compute) > WHOLE) {
            throw new SluiceException("--default-compute '" + compute + "' is no percentage; write 0 to 100");
        }
        return new SliceDefaults(memory, Integer.parseInt(compute));
    }

    /// A multiple of a step, and no more than all.
    long bytes(long advertisedBytes, long stepBytes) {
        Matcher percent = PERCENT.matcher(memory);
        if (percent.matches()) {
            return Math.max(stepBytes, advertisedBytes / stepBytes * Integer.parseInt(percent.group(1)) / WHOLE * stepBytes);
        }
        long wanted = Math.min(advertisedBytes, Quantity.parse("--default-memory", memory));
        return Math.ceilDiv(wanted, stepBytes) * stepBytes;
    }
}
