package sluice.region.limits;

/// Caps on GPU time by GPU number, in thousandths of the time that passes.
public final class ComputeCaps extends GpuLimits {
    private ComputeCaps(long[] permille) {
        super(GpuUnit.COMPUTE, permille);
    }

    public static ComputeCaps none() {
        return of();
    }

    public static ComputeCaps of(int... permilleByGpu) {
        long[] permille = new long[permilleByGpu.length];
        for (int gpu = 0; gpu < permille.length; gpu++) {
            permille[gpu] = permilleByGpu[gpu];
        }
        return new ComputeCaps(permille);
    }

    /// Reads `25%`, the cap on every GPU, or `0=25%,1=50%`, caps of the GPUs named. All of a GPU is no cap.
    public static ComputeCaps parse(String text) {
        return new ComputeCaps(GpuUnit.COMPUTE.limits(text));
    }

    ComputeCaps changed(String text) {
        return new ComputeCaps(valuesAfter(text));
    }

    ComputeCaps within(ComputeCaps bound) {
        return new ComputeCaps(least(bound));
    }

    public int permille(int gpu) {
        return (int) of(gpu);
    }
}
