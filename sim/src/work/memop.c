/* Stream memory operations: a stream writes a value, or waits until memory holds one. */
#include "work/work.h"

enum { BATCH_WAIT_32 = 1, BATCH_WRITE_32 = 2, BATCH_FLUSH = 3, BATCH_WAIT_64 = 4, BATCH_WRITE_64 = 5, BATCH_BARRIER = 6 };
enum { WAIT_FLUSH = 1 << 30 };

static CUresult submit(CUstream stream, sim_work_kind_t kind, CUdeviceptr address, uint64_t value, unsigned bytes, unsigned flags) {
    CUdeviceptr base;
    size_t size;
    bool usable = sim_memory_is_usable(address, bytes) || sim_host_find(address, &base, &size, NULL);
    SIM_REQUIRE(usable && address % bytes == 0, CUDA_ERROR_INVALID_VALUE);
    return sim_work_submit(stream, &(sim_work_t){.kind = kind, .value = {address, value, bytes, flags}});
}

CUresult sim_cuStreamWriteValue32_v2(CUstream stream, CUdeviceptr address, cuuint32_t value, unsigned int flags) {
    SIM_REQUIRE(flags <= 1, CUDA_ERROR_INVALID_VALUE);
    return submit(stream, SIM_WORK_WRITE_VALUE, address, value, 4, 0);
}

CUresult sim_cuStreamWriteValue64_v2(CUstream stream, CUdeviceptr address, cuuint64_t value, unsigned int flags) {
    SIM_REQUIRE(flags <= 1, CUDA_ERROR_INVALID_VALUE);
    return submit(stream, SIM_WORK_WRITE_VALUE, address, value, 8, 0);
}

CUresult sim_cuStreamWaitValue32_v2(CUstream stream, CUdeviceptr address, cuuint32_t value, unsigned int flags) {
    SIM_REQUIRE((flags & ~(unsigned)WAIT_FLUSH) <= 3, CUDA_ERROR_INVALID_VALUE);
    return submit(stream, SIM_WORK_WAIT_VALUE, address, value, 4, flags & 3);
}

CUresult sim_cuStreamWaitValue64_v2(CUstream stream, CUdeviceptr address, cuuint64_t value, unsigned int flags) {
    SIM_REQUIRE((flags & ~(unsigned)WAIT_FLUSH) <= 3, CUDA_ERROR_INVALID_VALUE);
    return submit(stream, SIM_WORK_WAIT_VALUE, address, value, 8, flags & 3);
}

CUresult sim_cuStreamWriteValue32(CUstream stream, CUdeviceptr address, cuuint32_t value, unsigned int flags) {
    return sim_cuStreamWriteValue32_v2(stream, address, value, flags);
}

CUresult sim_cuStreamWriteValue64(CUstream stream, CUdeviceptr address, cuuint64_t value, unsigned int flags) {
    return sim_cuStreamWriteValue64_v2(stream, address, value, flags);
}

CUresult sim_cuStreamWaitValue32(CUstream stream, CUdeviceptr address, cuuint32_t value, unsigned int flags) {
    return sim_cuStreamWaitValue32_v2(stream, address, value, flags);
}

CUresult sim_cuStreamWaitValue64(CUstream stream, CUdeviceptr address, cuuint64_t value, unsigned int flags) {
    return sim_cuStreamWaitValue64_v2(stream, address, value, flags);
}

CUresult sim_cuStreamBatchMemOp_v2(CUstream stream, unsigned int count, CUstreamBatchMemOpParams *list, unsigned int flags) {
    SIM_REQUIRE((list || !count) && count <= 256 && flags == 0, CUDA_ERROR_INVALID_VALUE);
    for (const CUstreamBatchMemOpParams *each = list; each < list + count; each++) {
        switch (each->operation) {
        case BATCH_WAIT_32: SIM_TRY(sim_cuStreamWaitValue32_v2(stream, each->address, (cuuint32_t)each->value, each->flags)); break;
        case BATCH_WAIT_64: SIM_TRY(sim_cuStreamWaitValue64_v2(stream, each->address, each->value, each->flags)); break;
        case BATCH_WRITE_32: SIM_TRY(sim_cuStreamWriteValue32_v2(stream, each->address, (cuuint32_t)each->value, each->flags)); break;
        case BATCH_WRITE_64: SIM_TRY(sim_cuStreamWriteValue64_v2(stream, each->address, each->value, each->flags)); break;
        case BATCH_FLUSH: case BATCH_BARRIER: break;
        default: return CUDA_ERROR_INVALID_VALUE;
        }
    }
    return CUDA_SUCCESS;
}

CUresult sim_cuStreamBatchMemOp(CUstream stream, unsigned int count, CUstreamBatchMemOpParams *list, unsigned int flags) {
    return sim_cuStreamBatchMemOp_v2(stream, count, list, flags);
}
