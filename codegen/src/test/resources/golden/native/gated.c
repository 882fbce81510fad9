/* Generated from spec/cuda.api: the hooks that do nothing but pass the gate, and those that are only counted. */
#include "driver/driver.h"
#include "compute/gate.h"
#include "hooks.h"
#include "real.h"
#include "entry/watch.h"

CUresult hook_cuMemcpyDtoH_v2(void *dstHost, CUdeviceptr srcDevice, size_t ByteCount) {
    if (SL_UNLIKELY(!SL_DRIVER_HAS(cuMemcpyDtoH_v2)))
        return CUDA_ERROR_NOT_FOUND;
    if (!sl_gate_is_on())
        return real.cuMemcpyDtoH_v2(dstHost, srcDevice, ByteCount);
    sl_gate_pass_t pass;
    if (!sl_gate_enter_copy(&pass, NULL, SL_GATE_LEGACY, 10, ByteCount))
        return CUDA_ERROR_NOT_PERMITTED;
    CUresult status = real.cuMemcpyDtoH_v2(dstHost, srcDevice, ByteCount);
    sl_gate_leave(&pass, status);
    return status;
}

CUresult hook_cuMemcpyDtoH_v2_ptds(void *dstHost, CUdeviceptr srcDevice, size_t ByteCount) {
    if (SL_UNLIKELY(!SL_DRIVER_HAS(cuMemcpyDtoH_v2_ptds)))
        return CUDA_ERROR_NOT_FOUND;
    if (!sl_gate_is_on())
        return real.cuMemcpyDtoH_v2_ptds(dstHost, srcDevice, ByteCount);
    sl_gate_pass_t pass;
    if (!sl_gate_enter_copy(&pass, NULL, SL_GATE_PER_THREAD, 11, ByteCount))
        return CUDA_ERROR_NOT_PERMITTED;
    CUresult status = real.cuMemcpyDtoH_v2_ptds(dstHost, srcDevice, ByteCount);
    sl_gate_leave(&pass, status);
    return status;
}

CUresult hook_cuMemcpy2DAsync(const CUDA_MEMCPY2D *pCopy, CUstream hStream) {
    if (SL_UNLIKELY(!SL_DRIVER_HAS(cuMemcpy2DAsync)))
        return CUDA_ERROR_NOT_FOUND;
    if (!sl_gate_is_on())
        return real.cuMemcpy2DAsync(pCopy, hStream);
    sl_gate_pass_t pass;
    if (!sl_gate_enter_copy(&pass, hStream, SL_GATE_LEGACY, 12, pCopy ? (uint64_t)pCopy->WidthInBytes * pCopy->Height : 0))
        return CUDA_ERROR_NOT_PERMITTED;
    CUresult status = real.cuMemcpy2DAsync(pCopy, hStream);
    sl_gate_leave(&pass, status);
    return status;
}

CUresult hook_cuMemcpy2DAsync_ptsz(const CUDA_MEMCPY2D *pCopy, CUstream hStream) {
    if (SL_UNLIKELY(!SL_DRIVER_HAS(cuMemcpy2DAsync_ptsz)))
        return CUDA_ERROR_NOT_FOUND;
    if (!sl_gate_is_on())
        return real.cuMemcpy2DAsync_ptsz(pCopy, hStream);
    sl_gate_pass_t pass;
    if (!sl_gate_enter_copy(&pass, hStream, SL_GATE_PER_THREAD, 13, pCopy ? (uint64_t)pCopy->WidthInBytes * pCopy->Height : 0))
        return CUDA_ERROR_NOT_PERMITTED;
    CUresult status = real.cuMemcpy2DAsync_ptsz(pCopy, hStream);
    sl_gate_leave(&pass, status);
    return status;
}

CUresult hook_cuMemsetD2D16(CUdeviceptr dstDevice, size_t dstPitch, unsigned short us, size_t Width, size_t Height) {
    if (SL_UNLIKELY(!SL_DRIVER_HAS(cuMemsetD2D16)))
        return CUDA_ERROR_NOT_FOUND;
    if (!sl_gate_is_on())
        return real.cuMemsetD2D16(dstDevice, dstPitch, us, Width, Height);
    sl_gate_pass_t pass;
    if (!sl_gate_enter_copy(&pass, NULL, SL_GATE_LEGACY, 14, (uint64_t)Width * Height * 2))
        return CUDA_ERROR_NOT_PERMITTED;
    CUresult status = real.cuMemsetD2D16(dstDevice, dstPitch, us, Width, Height);
    sl_gate_leave(&pass, status);
    return status;
}

CUresult hook_cuMemPrefetchBatchAsync(CUdeviceptr *dptrs, size_t *sizes, size_t count, CUstream hStream) {
    if (SL_UNLIKELY(!SL_DRIVER_HAS(cuMemPrefetchBatchAsync)))
        return CUDA_ERROR_NOT_FOUND;
    if (!sl_gate_is_on())
        return real.cuMemPrefetchBatchAsync(dptrs, sizes, count, hStream);
    sl_gate_pass_t pass;
    if (!sl_gate_enter_copy(&pass, hStream, SL_GATE_LEGACY, 15, sl_watch_sum(sizes, count)))
        return CUDA_ERROR_NOT_PERMITTED;
    CUresult status = real.cuMemPrefetchBatchAsync(dptrs, sizes, count, hStream);
    sl_gate_leave(&pass, status);
    return status;
}

CUresult hook_cuMemBatchDecompressAsync(void *paramsArray, size_t count, CUstream stream) {
    if (SL_UNLIKELY(!SL_DRIVER_HAS(cuMemBatchDecompressAsync)))
        return CUDA_ERROR_NOT_FOUND;
    if (!sl_gate_is_on())
        return real.cuMemBatchDecompressAsync(paramsArray, count, stream);
    sl_gate_pass_t pass;
    if (!sl_gate_enter_copy(&pass, stream, SL_GATE_LEGACY, 16, 0))
        return CUDA_ERROR_NOT_PERMITTED;
    CUresult status = real.cuMemBatchDecompressAsync(paramsArray, count, stream);
    sl_gate_leave(&pass, status);
    return status;
}

CUresult hook_cuLaunchEverywhere(unsigned int numDevices) {
    if (SL_UNLIKELY(!SL_DRIVER_HAS(cuLaunchEverywhere)))
        return CUDA_ERROR_NOT_FOUND;
    if (sl_gate_is_on())
        sl_gate_pass_uncounted();
    return real.cuLaunchEverywhere(numDevices);
}
