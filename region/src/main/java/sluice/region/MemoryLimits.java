package sluice.region;

import java.util.Arrays;

/// Memory quotas by GPU number, as nvidia-smi counts them. 0 means no limit.
public final class MemoryLimits {
    /// How many GPUs a region can name.
    public static final int GPUS = 16;

    private final long[] bytes;

    private MemoryLimits(long[] bytes) {
        this.bytes = bytes;
    }

    public static MemoryLimits none() {
        return new MemoryLimits(new long[GPUS]);
    }

    public static MemoryLimits of(long... bytesByGpu) {
        return new MemoryLimits(Arrays.copyOf(bytesByGpu, GPUS));
    }

    /// Reads `4g`, the quota on every GPU, or `0=4g,1=8g`, quotas of the GPUs named.
    public static MemoryLimits parse(String text) {
        long[] bytes = new long[GPUS];
        if (text.indexOf('=') < 0) {
            Arrays.fill(bytes, Size.parse(text));
            return new MemoryLimits(bytes);
        }
        int from = 0;
        while (from <= text.length()) {
            int comma = text.indexOf(',', from);
            int end = comma < 0 ? text.length() : comma;
            read(text.substring(from, end), text, bytes);
            from = end + 1;
        }
        return new MemoryLimits(bytes);
    }

    private static void read(String part, String text, long[] bytes) {
        int equals = part.indexOf('=');
        if (equals < 0) {
            throw new SluiceException("bad memory limit '" + text + "'; write 4g for every GPU, or 0=4g,1=8g");
        }
        int gpu = gpu(part.substring(0, equals).strip(), text);
        if (bytes[gpu] != 0) {
            throw new SluiceException("memory limit '" + text + "' names GPU " + gpu + " twice; name each GPU once");
        }
        bytes[gpu] = Size.parse(part.substring(equals + 1));
    }

    static int gpu(String number, String text) {
        return GpuNumber.parse(number, "memory limit '" + text + "'", "0=4g,1=8g");
    }

    /// The quota of a GPU; 0 for none, also where the number is not one that a limit can name.
    public long bytes(int gpu) {
        return gpu >= 0 && gpu < GPUS ? bytes[gpu] : 0;
    }

    public boolean isEmpty() {
        for (long limit : bytes) {
            if (limit != 0) {
                return false;
            }
        }
        return true;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof MemoryLimits limits && Arrays.equals(bytes, limits.bytes);
    }

    @Override
    public int hashCode() {
        return Arrays.hashCode(bytes);
    }

    /// For people: `4.0 GiB` or `0=4.0 GiB, 1=8.0 GiB` or `none`.
    @Override
    public String toString() {
        if (isEmpty()) {
            return "none";
        }
        boolean same = true;
        StringBuilder list = new StringBuilder();
        for (int gpu = 0; gpu < GPUS; gpu++) {
            same &= bytes[gpu] == bytes[0];
            if (bytes[gpu] != 0) {
                list.append(list.isEmpty() ? "" : ", ").append(gpu).append('=').append(Size.format(bytes[gpu]));
            }
        }
        return same ? Size.format(bytes[0]) : list.toString();
    }
}
