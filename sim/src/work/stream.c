/* Streams: created ones, each context's legacy stream, and one per-thread default stream for each thread and context. */
#define _GNU_SOURCE
#include "work/work.h"

#include <sys/syscall.h>
#include <unistd.h>

extern _Thread_local int sim_per_thread;

#define LEGACY ((CUstream)1)
#define PER_THREAD ((CUstream)2)
#define NON_BLOCKING 1u
#define PRIORITY_GREATEST (-5)

static CUstream make(CUcontext context, unsigned flags, int priority) {
    static unsigned long long ids;
    CUstream stream = calloc(1, sizeof *stream);
    if (!stream) return NULL;
    stream->context = context;
    stream->flags = flags;
    stream->priority = priority;
    stream->id = ++ids;
    return stream;
}

static CUstream add(CUcontext context, unsigned flags, int priority) {
    CUstream stream = make(context, flags, priority);
    if (!stream) return NULL;
    stream->next = context->streams;
    return context->streams = stream;
}

static CUstream of_this_thread(CUcontext context) {
    static _Thread_local uint64_t thread;
    if (!thread) thread = (uint64_t)syscall(SYS_gettid);
    for (CUstream stream = context->streams; stream; stream = stream->next)
        if (stream->thread == thread) return stream;
    CUstream stream = add(context, 0, 0);
    if (stream) stream->thread = thread;
    return stream;
}

CUresult sim_stream_resolve(CUstream handle, CUstream *stream) {
    if ((uintptr_t)handle > 2) return *stream = handle, sim_context_error(handle->context);
    CUcontext context;
    SIM_TRY(sim_context_current(&context));
    if (handle == PER_THREAD || (!handle && sim_per_thread)) {
        *stream = of_this_thread(context);
    } else {
        if (!context->legacy && (context->legacy = make(context, 0, 0))) context->legacy->legacy = true;
        *stream = context->legacy;
    }
    return *stream ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult sim_work_submit(CUstream handle, const sim_work_t *work) {
    CUstream stream;
    SIM_TRY(sim_stream_resolve(handle, &stream));
    if (stream->tips.capture) return sim_capture_add(stream, work);
    SIM_TRY(sim_capture_check_legacy(stream));
    return sim_work_queue(stream, work);
}

/* Destroys the streams of a context; their work has ended. */
void sim_stream_drop(CUcontext context) {
    for (CUstream stream = context->streams, next; stream; stream = next) {
        next = stream->next;
        sim_capture_leave(stream);
        free(stream);
    }
    free(context->legacy);
    context->streams = context->legacy = NULL;
}

CUresult sim_cuStreamCreateWithPriority(CUstream *result, unsigned int flags, int priority) {
    CUcontext context;
    SIM_REQUIRE(result && flags <= NON_BLOCKING, CUDA_ERROR_INVALID_VALUE);
    SIM_TRY(sim_context_current(&context));
    if (priority > 0) priority = 0;
    if (priority < PRIORITY_GREATEST) priority = PRIORITY_GREATEST;
    *result = add(context, flags, priority);
    return *result ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult sim_cuStreamCreate(CUstream *result, unsigned int flags) { return sim_cuStreamCreateWithPriority(result, flags, 0); }

/* The real call returns at once and lets queued work end; here it waits for that work. */
CUresult sim_cuStreamDestroy_v2(CUstream stream) {
    SIM_REQUIRE((uintptr_t)stream > 2, CUDA_ERROR_INVALID_HANDLE);
    if (stream->context->alive) sim_stream_wait(stream);
    for (CUstream *each = &stream->context->streams; *each; each = &(*each)->next) {
        if (*each != stream) continue;
        *each = stream->next;
        sim_capture_leave(stream);
        free(stream);
        return CUDA_SUCCESS;
    }
    return CUDA_ERROR_INVALID_HANDLE;
}

CUresult sim_cuStreamDestroy(CUstream stream) { return sim_cuStreamDestroy_v2(stream); }

CUresult sim_cuStreamSynchronize(CUstream handle) {
    CUstream stream;
    SIM_TRY(sim_stream_resolve(handle, &stream));
    SIM_TRY(sim_capture_forbid(stream));
    uint64_t before = sim_space_next_id();
    SIM_TRY(stream->legacy ? sim_legacy_wait(stream) : sim_stream_wait(stream));
    sim_memory_give_waited(stream, NULL, before);
    return CUDA_SUCCESS;
}

CUresult sim_cuStreamQuery(CUstream handle) {
    CUstream stream;
    SIM_TRY(sim_stream_resolve(handle, &stream));
    SIM_TRY(sim_capture_forbid(stream));
    sim_work_catch_up();
    return sim_stream_is_idle(stream) ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
}

CUresult sim_cuStreamGetPriority(CUstream handle, int *priority) {
    CUstream stream;
    SIM_REQUIRE(priority, CUDA_ERROR_INVALID_VALUE);
    SIM_TRY(sim_stream_resolve(handle, &stream));
    *priority = stream->priority;
    return CUDA_SUCCESS;
}

CUresult sim_cuStreamGetFlags(CUstream handle, unsigned int *flags) {
    CUstream stream;
    SIM_REQUIRE(flags, CUDA_ERROR_INVALID_VALUE);
    SIM_TRY(sim_stream_resolve(handle, &stream));
    *flags = stream->flags;
    return CUDA_SUCCESS;
}

CUresult sim_cuStreamGetId(CUstream handle, unsigned long long *id) {
    CUstream stream;
    SIM_REQUIRE(id, CUDA_ERROR_INVALID_VALUE);
    SIM_TRY(sim_stream_resolve(handle, &stream));
    *id = stream->id;
    return CUDA_SUCCESS;
}

CUresult sim_cuStreamGetCtx(CUstream handle, CUcontext *context) {
    CUstream stream;
    SIM_REQUIRE(context, CUDA_ERROR_INVALID_VALUE);
    SIM_TRY(sim_stream_resolve(handle, &stream));
    *context = stream->context;
    return CUDA_SUCCESS;
}

CUresult sim_cuStreamGetCtx_v2(CUstream handle, CUcontext *context, CUgreenCtx *green) {
    if (green) *green = NULL;
    return sim_cuStreamGetCtx(handle, context);
}

CUresult sim_cuStreamGetDevice(CUstream handle, CUdevice *device) {
    CUstream stream;
    SIM_REQUIRE(device, CUDA_ERROR_INVALID_VALUE);
    SIM_TRY(sim_stream_resolve(handle, &stream));
    *device = stream->context->device;
    return CUDA_SUCCESS;
}

CUresult sim_cuLaunchHostFunc(CUstream stream, CUhostFn function, void *data) {
    SIM_REQUIRE(function, CUDA_ERROR_INVALID_VALUE);
    return sim_work_submit(stream, &(sim_work_t){.kind = SIM_WORK_HOST, .host = {function, data}});
}

CUresult sim_cuStreamAddCallback(CUstream handle, CUstreamCallback function, void *data, unsigned int flags) {
    CUstream stream;
    SIM_REQUIRE(function && flags == 0, CUDA_ERROR_INVALID_VALUE);
    SIM_TRY(sim_stream_resolve(handle, &stream));
    SIM_TRY(sim_capture_forbid(stream));
    return sim_work_queue(stream, &(sim_work_t){.kind = SIM_WORK_CALLBACK, .callback = {function, handle, data}});
}

CUresult sim_cuStreamAttachMemAsync(CUstream handle, CUdeviceptr address, size_t length, unsigned int flags) {
    CUstream stream;
    sim_allocation_t found;
    SIM_TRY(sim_stream_resolve(handle, &stream));
    SIM_REQUIRE(sim_memory_find(address, &found) && found.range->kind == SIM_MANAGED, CUDA_ERROR_INVALID_VALUE);
    SIM_REQUIRE((length == 0 || length == found.bytes) && (flags == 1 || flags == 2 || flags == 4), CUDA_ERROR_INVALID_VALUE);
    return CUDA_SUCCESS;
}
