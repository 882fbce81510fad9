/* track: see track.h. */
#include "pause/track.h"

#include "ledger/allocations.h"
#include "pause/borrow.h"
#include "pause/telling.h"
#include "tenant/gpu.h"

enum { NON_BLOCKING = 1, BLOCKING_SYNC = 1, DISABLE_TIMING = 2 };

static bool is_active(CUdevice device) {
    unsigned flags;
    int active = 0;
    return real.cuDevicePrimaryCtxGetState && real.cuDevicePrimaryCtxGetState(device, &flags, &active) == CUDA_SUCCESS && active;
}

/* Retaining an active primary context changes nothing, and no thread can end it meanwhile. Only devices with a context are looked up, so
 * that a GPU that the process does not use gets no entry in the region. */
static CUcontext retain_primary(CUdevice device, unsigned gpu) {
    CUcontext context = NULL;
    if (!is_active(device) || sl_gpu_find(device) != (int)gpu || !real.cuDevicePrimaryCtxRetain || !real.cuDevicePrimaryCtxRelease_v2)
        return NULL;
    return real.cuDevicePrimaryCtxRetain(&context, device) == CUDA_SUCCESS ? context : NULL;
}

static CUcontext context_of(unsigned gpu, CUdevice *retained) {
    int count = 0;
    if (real.cuDeviceGetCount)
        real.cuDeviceGetCount(&count);
    for (CUdevice device = 0; device < count && device < SL_GPU_DEVICES; device++) {
        CUcontext context = retain_primary(device, gpu);
        if (!context)
            continue;
        *retained = device;
        return context;
    }
    return sl_allocations_context(gpu);
}

static bool make(sl_track_t *track) {
    if (!real.cuStreamCreate || !real.cuEventCreate || !real.cuEventRecord || !real.cuEventSynchronize || !real.cuStreamSynchronize)
        return false;
    for (int i = 0; i < SL_TRACK_STREAMS; i++)
        if (real.cuStreamCreate(&track->streams[i], NON_BLOCKING) != CUDA_SUCCESS)
            return track->streams[i] = NULL, false;
    for (int i = 0; i < SL_TRACK_FLIGHT; i++)
        if (real.cuEventCreate(&track->events[i], BLOCKING_SYNC | DISABLE_TIMING) != CUDA_SUCCESS)
            return track->events[i] = NULL, false;
    return true;
}

static void unmake(sl_track_t *track) {
    for (int i = 0; i < SL_TRACK_FLIGHT; i++)
        if (track->events[i] && real.cuEventDestroy_v2)
            real.cuEventDestroy_v2(track->events[i]);
    for (int i = 0; i < SL_TRACK_STREAMS; i++)
        if (track->streams[i] && real.cuStreamDestroy_v2)
            real.cuStreamDestroy_v2(track->streams[i]);
    for (int i = 0; i < SL_TRACK_STREAMS; i++)
        track->streams[i] = NULL;
    for (int i = 0; i < SL_TRACK_FLIGHT; i++)
        track->events[i] = NULL;
}

bool sl_track_open(sl_track_t *track, CUcontext context, unsigned gpu) {
    *track = (sl_track_t){.gpu = gpu, .retained = -1};
    track->context = context ? context : context_of(gpu, &track->retained);
    sl_borrow_t borrow;
    bool current = sl_borrow_begin(&borrow, track->context);
    if (current && !make(track))
        unmake(track);
    sl_borrow_end(&borrow);
    if (!current)
        sl_track_close(track);
    return current;
}

void sl_track_close(sl_track_t *track) {
    sl_borrow_t borrow;
    if (sl_borrow_begin(&borrow, track->context))
        unmake(track);
    sl_borrow_end(&borrow);
    if (track->retained >= 0)
        real.cuDevicePrimaryCtxRelease_v2(track->retained);
    track->retained = -1;
    track->context = NULL;
}

static CUresult wait_for_one(sl_track_t *track) {
    uint64_t number = track->ended++ % SL_TRACK_FLIGHT;
    CUresult status = real.cuEventSynchronize(track->events[number]);
    if (status == CUDA_SUCCESS)
        sl_telling_moved(track->bytes[number]);
    return status;
}

static CUresult copy_at_once(bool out, uint64_t address, void *host, uint64_t bytes) {
    CUresult status = out ? real.cuMemcpyDtoH_v2(host, address, bytes) : real.cuMemcpyHtoD_v2(address, host, bytes);
    if (status == CUDA_SUCCESS)
        sl_telling_moved(bytes);
    return status;
}

static CUresult copy(sl_track_t *track, bool out, uint64_t address, void *host, uint64_t bytes) {
    CUstream stream = track->streams[track->begun % SL_TRACK_STREAMS];
    if (!stream)
        return copy_at_once(out, address, host, bytes);
    CUresult status = track->begun - track->ended == SL_TRACK_FLIGHT ? wait_for_one(track) : CUDA_SUCCESS;
    if (status == CUDA_SUCCESS)
        status = out ? real.cuMemcpyDtoHAsync_v2(host, address, bytes, stream) : real.cuMemcpyHtoDAsync_v2(address, host, bytes, stream);
    uint64_t number = track->begun % SL_TRACK_FLIGHT;
    if (status == CUDA_SUCCESS)
        status = real.cuEventRecord(track->events[number], stream);
    if (status != CUDA_SUCCESS)
        return status;
    track->bytes[number] = bytes;
    track->begun++;
    return CUDA_SUCCESS;
}

CUresult sl_track_copy(sl_track_t *track, bool out, uint64_t address, void *host, uint64_t bytes) {
    sl_borrow_t borrow;
    CUresult status = sl_borrow_begin(&borrow, track->context) ? copy(track, out, address, host, bytes) : CUDA_ERROR_INVALID_VALUE;
    sl_borrow_end(&borrow);
    return status;
}

CUresult sl_track_wait(sl_track_t *track, uint64_t number) {
    sl_borrow_t borrow;
    if (track->ended >= number)
        return CUDA_SUCCESS;
    CUresult status = sl_borrow_begin(&borrow, track->context) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
    while (track->ended < number && status == CUDA_SUCCESS)
        status = wait_for_one(track);
    sl_borrow_end(&borrow);
    return status;
}

static bool is_empty(CUstream stream) {
    return !stream || real.cuStreamSynchronize(stream) == CUDA_SUCCESS || real.cuStreamSynchronize(stream) == CUDA_SUCCESS;
}

CUresult sl_track_drain(sl_track_t *track, bool *quiet) {
    sl_borrow_t borrow;
    CUresult status = sl_borrow_begin(&borrow, track->context) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
    while (track->ended < track->begun) {
        CUresult one = wait_for_one(track);
        status = status == CUDA_SUCCESS ? one : status;
    }
    for (int i = 0; i < SL_TRACK_STREAMS; i++)
        *quiet &= is_empty(track->streams[i]);
    sl_borrow_end(&borrow);
    return status == CUDA_SUCCESS && !*quiet ? CUDA_ERROR_NOT_READY : status;
}

bool sl_track_is_idle(const sl_track_t *track) {
    sl_borrow_t borrow;
    bool idle = sl_borrow_begin(&borrow, track->context) && real.cuCtxSynchronize && real.cuCtxSynchronize() == CUDA_SUCCESS;
    sl_borrow_end(&borrow);
    return idle;
}

uint64_t sl_track_free_bytes(const sl_track_t *track) {
    sl_borrow_t borrow;
    size_t left = 0, total;
    if (sl_borrow_begin(&borrow, track->context) && (!real.cuMemGetInfo_v2 || real.cuMemGetInfo_v2(&left, &total) != CUDA_SUCCESS))
        left = 0;
    sl_borrow_end(&borrow);
    return left;
}

CUcontext sl_track_any(sl_track_t *track) {
    *track = (sl_track_t){.retained = -1};
    for (unsigned gpu = 0; gpu < SL_REGION_GPU_COUNT && !track->context; gpu++)
        track->context = context_of(gpu, &track->retained);
    return track->context;
}
