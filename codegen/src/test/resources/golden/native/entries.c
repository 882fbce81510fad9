/* Generated from spec/cuda.api: the hooked entry points.
 *
 * The table holds the address of this library's own wrapper, also when another library exports the same name. */
#include "entry.h"
#include "hooks.h"
#include "real.h"

sl_real_t real;

static const char *const names[] = {
    "cuInit",
    "cuDeviceGetUuid",
    "cuDeviceGetProperties",
    "cuCtxSynchronize",
    "cuMemAlloc",
    "cuMemAlloc_v2",
    "cuMemAllocAsync",
    "cuMemAllocAsync_ptsz",
    "cuMemFreeAsync",
    "cuMemFreeAsync_ptsz",
    "cuMemcpyDtoH_v2",
    "cuMemcpyDtoH_v2_ptds",
    "cuLaunchHostFunc",
    "cuLaunchHostFunc_ptsz",
    "cuMemGetInfo_v2",
    "cudbgMain",
};

static CUresult entry_cuInit(unsigned int Flags) {
    return hook_cuInit(Flags);
}
SL_EXPORT CUresult cuInit(unsigned int Flags) __attribute__((alias("entry_cuInit")));

static CUresult entry_cuMemAlloc(CUdeviceptr_v1 *dptr, unsigned int bytesize) {
    return hook_cuMemAlloc(dptr, bytesize);
}
SL_EXPORT CUresult cuMemAlloc(CUdeviceptr_v1 *dptr, unsigned int bytesize) __attribute__((alias("entry_cuMemAlloc")));

static CUresult entry_cuMemAlloc_v2(CUdeviceptr *dptr, size_t bytesize) {
    return hook_cuMemAlloc_v2(dptr, bytesize);
}
SL_EXPORT CUresult cuMemAlloc_v2(CUdeviceptr *dptr, size_t bytesize) __attribute__((alias("entry_cuMemAlloc_v2")));

static CUresult entry_cuMemFreeAsync(CUdeviceptr dptr, CUstream hStream) {
    return hook_cuMemFreeAsync(dptr, hStream);
}
SL_EXPORT CUresult cuMemFreeAsync(CUdeviceptr dptr, CUstream hStream) __attribute__((alias("entry_cuMemFreeAsync")));

static CUresult entry_cuMemFreeAsync_ptsz(CUdeviceptr dptr, CUstream hStream) {
    return hook_cuMemFreeAsync_ptsz(dptr, hStream);
}
SL_EXPORT CUresult cuMemFreeAsync_ptsz(CUdeviceptr dptr, CUstream hStream) __attribute__((alias("entry_cuMemFreeAsync_ptsz")));

static const sl_entry_hook_t hooks[] = {
    {0, (void *)entry_cuInit},
    {4, (void *)entry_cuMemAlloc},
    {5, (void *)entry_cuMemAlloc_v2},
    {8, (void *)entry_cuMemFreeAsync},
    {9, (void *)entry_cuMemFreeAsync_ptsz},
};

const sl_entry_table_t sl_entry_cuda = {
    .real = (void **)&real,
    .names = names,
    .count = sizeof names / sizeof *names,
    .hooks = hooks,
    .hook_count = sizeof hooks / sizeof *hooks,
};

_Static_assert(sizeof real == sizeof names, "one pointer for each entry point");
