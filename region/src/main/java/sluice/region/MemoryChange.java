package sluice.region;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/// New memory quotas for some GPUs or for all; the others stay as they are.
public final class MemoryChange {
    private static final long KEEP = -1;
    private static final String NO_LIMIT = "none";

    private final long[] bytes = new long[MemoryLimits.GPUS];

    private MemoryChange(long forAll) {
        Arrays.fill(bytes, forAll);
    }

    /// Reads `6g` or `none`, for every GPU, or `0=6g,1=none`, for the GPUs named.
    public static MemoryChange parse(String text) {
        if (text.indexOf('=') < 0) {
            return new MemoryChange(size(text));
        }
        MemoryChange change = new MemoryChange(KEEP);
        for (String part : text.split(",", -1)) {
            int equals = part.indexOf('=');
            if (equals < 0) {
                throw new SluiceException("bad memory limit '" + text + "'; write 6g for every GPU, or 0=6g,1=none");
            }
            int gpu = MemoryLimits.gpu(part.substring(0, equals).strip(), text);
            if (change.bytes[gpu] != KEEP) {
                throw new SluiceException("memory limit '" + text + "' names GPU " + gpu + " twice; name each GPU once");
            }
            change.bytes[gpu] = size(part.substring(equals + 1));
        }
        return change;
    }

    /// One quota for every GPU; 0 is none.
    public static MemoryChange toAll(long bytes) {
        return new MemoryChange(bytes);
    }

    private static long size(String text) {
        return text.strip().equals(NO_LIMIT) ? 0 : Size.parse(text);
    }

    /// The GPUs that a change for some is for; empty when it is for all.
    public List<Integer> named() {
        List<Integer> named = new ArrayList<>();
        for (int gpu = 0; gpu < bytes.length; gpu++) {
            if (bytes[gpu] != KEEP) {
                named.add(gpu);
            }
        }
        return named.size() == bytes.length ? List.of() : named;
    }

    MemoryLimits appliedTo(MemoryLimits old) {
        long[] limits = new long[MemoryLimits.GPUS];
        for (int gpu = 0; gpu < limits.length; gpu++) {
            limits[gpu] = bytes[gpu] == KEEP ? old.bytes(gpu) : bytes[gpu];
        }
        return MemoryLimits.of(limits);
    }
}
