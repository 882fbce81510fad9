package sluice.region;

import java.util.Arrays;

/// Caps on GPU time by GPU number, as nvidia-smi counts them, in thousandths of the time that passes. 0 means no cap.
public final class ComputeCaps {
    private static final int ALL_PERMILLE = 1000;
    private static final int NOT_NAMED = -1;

    private final int[] permille;

    private ComputeCaps(int[] permille) {
        this.permille = permille;
    }

    public static ComputeCaps none() {
        return new ComputeCaps(new int[MemoryLimits.GPUS]);
    }

    public static ComputeCaps of(int... permilleByGpu) {
        return new ComputeCaps(Arrays.copyOf(permilleByGpu, MemoryLimits.GPUS));
    }

    /// Reads `25%`, the cap on every GPU, or `0=25%,1=50%`, caps of the GPUs named. All of a GPU is no cap.
    public static ComputeCaps parse(String text) {
        int[] caps = new int[MemoryLimits.GPUS];
        if (text.indexOf('=') < 0) {
            Arrays.fill(caps, cap(Percent.parse(text)));
            return new ComputeCaps(caps);
        }
        Arrays.fill(caps, NOT_NAMED);
        int from = 0;
        while (from <= text.length()) {
            int comma = text.indexOf(',', from);
            int end = comma < 0 ? text.length() : comma;
            read(text.substring(from, end), text, caps);
            from = end + 1;
        }
        for (int gpu = 0; gpu < caps.length; gpu++) {
            caps[gpu] = Math.max(0, caps[gpu]);
        }
        return new ComputeCaps(caps);
    }

    private static void read(String part, String text, int[] caps) {
        int equals = part.indexOf('=');
        if (equals < 0) {
            throw new SluiceException("bad compute limit '" + text + "'; write 25% for every GPU, or 0=25%,1=50%");
        }
        int gpu = gpu(part.substring(0, equals).strip(), text);
        if (caps[gpu] != NOT_NAMED) {
            throw new SluiceException("compute limit '" + text + "' names GPU " + gpu + " twice; name each GPU once");
        }
        caps[gpu] = cap(Percent.parse(part.substring(equals + 1)));
    }

    static int gpu(String number, String text) {
        return GpuNumber.parse(number, "compute limit '" + text + "'", "0=25%,1=50%");
    }

    static int cap(int permille) {
        return permille == ALL_PERMILLE ? 0 : permille;
    }

    /// The cap of a GPU; 0 for none, also where the number is not one that a limit can name.
    public int permille(int gpu) {
        return gpu >= 0 && gpu < permille.length ? permille[gpu] : 0;
    }

    public boolean isEmpty() {
        for (int cap : permille) {
            if (cap != 0) {
                return false;
            }
        }
        return true;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof ComputeCaps caps && Arrays.equals(permille, caps.permille);
    }

    @Override
    public int hashCode() {
        return Arrays.hashCode(permille);
    }

    /// For people: `25%` or `0=25%, 1=50%` or `none`.
    @Override
    public String toString() {
        if (isEmpty()) {
            return "none";
        }
        boolean same = true;
        StringBuilder list = new StringBuilder();
        for (int gpu = 0; gpu < permille.length; gpu++) {
            same &= permille[gpu] == permille[0];
            if (permille[gpu] != 0) {
                list.append(list.isEmpty() ? "" : ", ").append(gpu).append('=').append(Percent.format(permille[gpu]));
            }
        }
        return same ? Percent.format(permille[0]) : list.toString();
    }
}
