package sluice.region.layout;

import java.util.List;

/// Generated from spec/cuda.api: the CUDA entry points by the number that they have in the region's record `call`.
public final class CallTable {
    /// Of the names in their order; another one in a region means that its numbers stand for other names.
    public static final long DIGEST = 0xe0b4f0e3de55a68L;

    public static final List<String> NAMES = """
            cuInit
            cuDeviceGetUuid
            cuDeviceGetProperties
            cuCtxSynchronize
            cuMemAlloc
            cuMemAlloc_v2
            cuMemAllocAsync
            cuMemAllocAsync_ptsz
            cuMemFreeAsync
            cuMemFreeAsync_ptsz
            cuMemcpyDtoH_v2
            cuMemcpyDtoH_v2_ptds
            cuMemcpy2DAsync
            cuMemcpy2DAsync_ptsz
            cuMemsetD2D16
            cuMemPrefetchBatchAsync
            cuMemBatchDecompressAsync
            cuLaunchEverywhere
            cuLaunchKernel
            cuLaunchKernel_ptsz
            cuLaunchHostFunc
            cuLaunchHostFunc_ptsz
            cuMemGetInfo_v2
            cudbgMain
            """.lines().toList();

    /// What each does, a letter each: the words of `CallKind`.
    public static final String KINDS = "---WAAAAFFCCCCSCCKKK----";

    private CallTable() {}
}
