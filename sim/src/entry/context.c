/* Contexts: one primary for each device, created ones, and each thread's stack of current ones. A destroyed context stays
 * in the list, so that a thread for which it is still current gets an error. */
#include "entry/sim.h"
#include "kernel/rm.h"

#define STACK_DEPTH 64
#define API_VERSION 3020
#define CREATE_FLAGS 0xff

static CUcontext contexts;
static CUcontext primaries[SIM_GPUS_MAX];
static unsigned primary_flags[SIM_GPUS_MAX];
static _Thread_local struct { CUcontext entries[STACK_DEPTH]; int depth; } stack;

CUcontext sim_context_first(void) { return contexts; }

bool sim_context_is_known(CUcontext context) {
    for (CUcontext each = contexts; each; each = each->next)
        if (each == context) return true;
    return false;
}

CUresult sim_context_error(CUcontext context) {
    if (!context->error && sim_device_is_lost(context->device)) context->error = CUDA_ERROR_UNKNOWN;
    return context->error;
}

CUresult sim_context_current(CUcontext *context) {
    *context = stack.depth ? stack.entries[stack.depth - 1] : NULL;
    SIM_REQUIRE(*context, CUDA_ERROR_INVALID_CONTEXT);
    SIM_REQUIRE((*context)->alive, CUDA_ERROR_CONTEXT_IS_DESTROYED);
    return sim_context_error(*context);
}

static CUresult bring_up(CUcontext context) {
    static const size_t limits[9] = {1024, 8650752, 8388608, 0, 2048, 64, 11796480, 232448};
    static unsigned long long ids;
    SIM_REQUIRE(!sim_device_is_lost(context->device), CUDA_ERROR_UNKNOWN);
    SIM_REQUIRE(sim_state_take(sim_device_gpu(context->device), sim_settings()->context_bytes), CUDA_ERROR_OUT_OF_MEMORY);
    memcpy(context->limits, limits, sizeof limits);
    memset(context->peers, 0, sizeof context->peers);
    context->error = CUDA_SUCCESS;
    context->group = sim_rm_open() ? sim_rm_make_group() : -1;
    context->id = ++ids;
    context->alive = true;
    return CUDA_SUCCESS;
}

static CUresult tear_down(CUcontext context) {
    if (!context->alive) return CUDA_SUCCESS;
    sim_context_drain(context);
    context->alive = false;
    sim_rm_free_group(context->group);
    context->group = -1;
    sim_stream_drop(context);
    sim_sparse_drop(context);
    sim_memory_drop(context);
    bool last = true;
    for (CUcontext other = contexts; other; other = other->next) last &= !other->alive || other->device != context->device;
    if (last) sim_pool_drop(context->device);
    sim_limits_drop(context);
    sim_state_give(sim_device_gpu(context->device), sim_settings()->context_bytes);
    return CUDA_SUCCESS;
}

static CUcontext make(int device, bool primary, unsigned flags) {
    CUcontext context = calloc(1, sizeof *context);
    if (!context) return NULL;
    context->device = device;
    context->primary = primary;
    context->flags = flags;
    context->api_version = API_VERSION;
    context->next = contexts;
    return contexts = context;
}

CUresult sim_cuDevicePrimaryCtxRetain(CUcontext *result, CUdevice device) {
    SIM_REQUIRE(result, CUDA_ERROR_INVALID_VALUE);
    SIM_REQUIRE(sim_device_is_known(device), CUDA_ERROR_INVALID_DEVICE);
    CUcontext *primary = &primaries[device];
    if (!*primary && !(*primary = make(device, true, 0))) return CUDA_ERROR_OUT_OF_MEMORY;
    if (!(*primary)->alive) SIM_TRY(bring_up(*primary));
    (*primary)->references++;
    *result = *primary;
    return CUDA_SUCCESS;
}

CUresult sim_cuDevicePrimaryCtxRelease_v2(CUdevice device) {
    SIM_REQUIRE(sim_device_is_known(device), CUDA_ERROR_INVALID_DEVICE);
    CUcontext primary = primaries[device];
    SIM_REQUIRE(primary && primary->references, CUDA_ERROR_INVALID_CONTEXT);
    return --primary->references ? CUDA_SUCCESS : tear_down(primary);
}

CUresult sim_cuDevicePrimaryCtxRelease(CUdevice device) { return sim_cuDevicePrimaryCtxRelease_v2(device); }

CUresult sim_cuDevicePrimaryCtxReset_v2(CUdevice device) {
    SIM_REQUIRE(sim_device_is_known(device), CUDA_ERROR_INVALID_DEVICE);
    return primaries[device] ? tear_down(primaries[device]) : CUDA_SUCCESS;
}

CUresult sim_cuDevicePrimaryCtxReset(CUdevice device) { return sim_cuDevicePrimaryCtxReset_v2(device); }

CUresult sim_cuDevicePrimaryCtxSetFlags_v2(CUdevice device, unsigned int flags) {
    SIM_REQUIRE(flags <= CREATE_FLAGS, CUDA_ERROR_INVALID_VALUE);
    SIM_REQUIRE(sim_device_is_known(device), CUDA_ERROR_INVALID_DEVICE);
    primary_flags[device] = flags;
    return CUDA_SUCCESS;
}

CUresult sim_cuDevicePrimaryCtxSetFlags(CUdevice device, unsigned int flags) { return sim_cuDevicePrimaryCtxSetFlags_v2(device, flags); }

CUresult sim_cuDevicePrimaryCtxGetState(CUdevice device, unsigned int *flags, int *active) {
    SIM_REQUIRE(flags && active, CUDA_ERROR_INVALID_VALUE);
    SIM_REQUIRE(sim_device_is_known(device), CUDA_ERROR_INVALID_DEVICE);
    *flags = primary_flags[device];
    *active = primaries[device] && primaries[device]->alive;
    return CUDA_SUCCESS;
}

CUresult sim_cuCtxPushCurrent_v2(CUcontext context) {
    SIM_REQUIRE(context, CUDA_ERROR_INVALID_VALUE);
    SIM_REQUIRE(sim_context_is_known(context), CUDA_ERROR_INVALID_CONTEXT);
    SIM_REQUIRE(context->alive, CUDA_ERROR_CONTEXT_IS_DESTROYED);
    SIM_REQUIRE(stack.depth < STACK_DEPTH, CUDA_ERROR_OUT_OF_MEMORY);
    stack.entries[stack.depth++] = context;
    return CUDA_SUCCESS;
}

CUresult sim_cuCtxPopCurrent_v2(CUcontext *context) {
    SIM_REQUIRE(stack.depth, CUDA_ERROR_INVALID_CONTEXT);
    stack.depth--;
    if (context) *context = stack.entries[stack.depth];
    return CUDA_SUCCESS;
}

CUresult sim_cuCtxPushCurrent(CUcontext context) { return sim_cuCtxPushCurrent_v2(context); }
CUresult sim_cuCtxPopCurrent(CUcontext *context) { return sim_cuCtxPopCurrent_v2(context); }

CUresult sim_cuCtxSetCurrent(CUcontext context) {
    SIM_REQUIRE(!context || sim_context_is_known(context), CUDA_ERROR_INVALID_CONTEXT);
    if (stack.depth) stack.depth--;
    return context ? sim_cuCtxPushCurrent_v2(context) : CUDA_SUCCESS;
}

CUresult sim_cuCtxGetCurrent(CUcontext *context) {
    SIM_REQUIRE(context, CUDA_ERROR_INVALID_VALUE);
    *context = stack.depth ? stack.entries[stack.depth - 1] : NULL;
    return CUDA_SUCCESS;
}

CUresult sim_cuCtxCreate_v2(CUcontext *result, unsigned int flags, CUdevice device) {
    SIM_REQUIRE(result && flags <= CREATE_FLAGS, CUDA_ERROR_INVALID_VALUE);
    SIM_REQUIRE(sim_device_is_known(device), CUDA_ERROR_INVALID_DEVICE);
    SIM_REQUIRE(stack.depth < STACK_DEPTH, CUDA_ERROR_OUT_OF_MEMORY);
    CUcontext context = make(device, false, flags);
    SIM_REQUIRE(context, CUDA_ERROR_OUT_OF_MEMORY);
    CUresult problem = bring_up(context);
    if (problem) {
        contexts = context->next;
        free(context);
        return problem;
    }
    context->references = 1;
    *result = context;
    return sim_cuCtxPushCurrent_v2(context);
}

CUresult sim_cuCtxCreate(CUcontext *context, unsigned int flags, CUdevice device) { return sim_cuCtxCreate_v2(context, flags, device); }

CUresult sim_cuCtxCreate_v3(CUcontext *context, CUexecAffinityParam *affinity, int count, unsigned int flags, CUdevice device) {
    SIM_REQUIRE(!affinity && count == 0, CUDA_ERROR_NOT_SUPPORTED);
    return sim_cuCtxCreate_v2(context, flags, device);
}

CUresult sim_cuCtxCreate_v4(CUcontext *context, CUctxCreateParams *parameters, unsigned int flags, CUdevice device) {
    SIM_REQUIRE(!parameters, CUDA_ERROR_NOT_SUPPORTED);
    return sim_cuCtxCreate_v2(context, flags, device);
}

CUresult sim_cuCtxDestroy_v2(CUcontext context) {
    SIM_REQUIRE(context, CUDA_ERROR_INVALID_VALUE);
    SIM_REQUIRE(sim_context_is_known(context) && !context->primary && context->alive, CUDA_ERROR_INVALID_CONTEXT);
    if (stack.depth && stack.entries[stack.depth - 1] == context) stack.depth--;
    return tear_down(context);
}

CUresult sim_cuCtxDestroy(CUcontext context) { return sim_cuCtxDestroy_v2(context); }

CUresult sim_cuCtxAttach(CUcontext *result, unsigned int flags) {
    CUcontext context;
    SIM_REQUIRE(result && flags == 0, CUDA_ERROR_INVALID_VALUE);
    SIM_TRY(sim_context_current(&context));
    context->references++;
    *result = context;
    return CUDA_SUCCESS;
}

CUresult sim_cuCtxDetach(CUcontext context) {
    SIM_REQUIRE(context && sim_context_is_known(context) && context->alive && context->references, CUDA_ERROR_INVALID_CONTEXT);
    if (--context->references) return CUDA_SUCCESS;
    return context->primary ? tear_down(context) : sim_cuCtxDestroy_v2(context);
}

/* For the queries that take a context or mean the current one. */
static CUresult current_or(CUcontext given, CUcontext *context) {
    if (!given) return sim_context_current(context);
    *context = given;
    SIM_REQUIRE(sim_context_is_known(given), CUDA_ERROR_INVALID_CONTEXT);
    return given->alive ? CUDA_SUCCESS : CUDA_ERROR_CONTEXT_IS_DESTROYED;
}

CUresult sim_cuCtxGetDevice_v2(CUdevice *device, CUcontext context) {
    SIM_REQUIRE(device, CUDA_ERROR_INVALID_VALUE);
    SIM_TRY(current_or(context, &context));
    *device = context->device;
    return CUDA_SUCCESS;
}

CUresult sim_cuCtxGetDevice(CUdevice *device) { return sim_cuCtxGetDevice_v2(device, NULL); }

CUresult sim_cuCtxGetFlags(unsigned int *flags) {
    CUcontext context;
    SIM_REQUIRE(flags, CUDA_ERROR_INVALID_VALUE);
    SIM_TRY(sim_context_current(&context));
    *flags = context->primary ? primary_flags[context->device] | 8 : context->flags | 8;
    return CUDA_SUCCESS;
}

CUresult sim_cuCtxSetFlags(unsigned int flags) {
    CUcontext context;
    SIM_REQUIRE(flags <= CREATE_FLAGS, CUDA_ERROR_INVALID_VALUE);
    SIM_TRY(sim_context_current(&context));
    context->flags = flags;
    if (context->primary) primary_flags[context->device] = flags;
    return CUDA_SUCCESS;
}

CUresult sim_cuCtxGetId(CUcontext context, unsigned long long *id) {
    SIM_REQUIRE(id, CUDA_ERROR_INVALID_VALUE);
    SIM_TRY(current_or(context, &context));
    *id = context->id;
    return CUDA_SUCCESS;
}

CUresult sim_cuCtxGetApiVersion(CUcontext context, unsigned int *version) {
    SIM_REQUIRE(version, CUDA_ERROR_INVALID_VALUE);
    SIM_TRY(current_or(context, &context));
    *version = context->api_version;
    return CUDA_SUCCESS;
}

CUresult sim_cuCtxSynchronize_v2(CUcontext context) {
    SIM_TRY(current_or(context, &context));
    uint64_t before = sim_space_next_id();
    SIM_TRY(sim_context_drain(context));
    sim_memory_give_waited(NULL, context, before);
    return CUDA_SUCCESS;
}

CUresult sim_cuCtxSynchronize(void) { return sim_cuCtxSynchronize_v2(NULL); }
