package sluice.region.limits;

import java.util.stream.IntStream;

/// New caps on GPU time.
public final class CapsChange extends GpuChange {
    private CapsChange(long[] permille) {
        super(permille);
    }

    /// Reads `25%` or `none`, for every GPU, or `0=25%,1=none`, for the GPUs named.
    public static CapsChange parse(String text) {
        return new CapsChange(GpuUnit.COMPUTE.changes(text));
    }

    ComputeCaps appliedTo(ComputeCaps old) {
        return ComputeCaps.of(IntStream.range(0, GpuUnit.GPUS).map(gpu -> (int) of(gpu, old)).toArray());
    }
}
