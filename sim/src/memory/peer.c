/* Peers: every GPU reaches the memory of every other one, as over NVLink. A context must enable it and may do so once. Kernels
 * are not checked: they reach the memory of all contexts of their process. */
#include "entry/sim.h"

enum { PERFORMANCE_RANK = 1, ACCESS_SUPPORTED = 2, NATIVE_ATOMICS = 3, ARRAY_ACCESS = 4 };

bool sim_device_is_peer(CUdevice device, CUdevice other) {
    const sim_settings_t *settings = sim_settings();
    return device != other && sim_unit_instance(settings, sim_device_gpu(device)) < 0 && sim_unit_instance(settings, sim_device_gpu(other)) < 0;
}

CUresult sim_cuDeviceCanAccessPeer(int *can, CUdevice device, CUdevice peer) {
    SIM_REQUIRE(can, CUDA_ERROR_INVALID_VALUE);
    SIM_REQUIRE(sim_device_is_known(device) && sim_device_is_known(peer), CUDA_ERROR_INVALID_DEVICE);
    *can = sim_device_is_peer(device, peer);
    return CUDA_SUCCESS;
}

CUresult sim_cuDeviceGetP2PAttribute(int *value, CUdevice_P2PAttribute attribute, CUdevice device, CUdevice peer) {
    SIM_REQUIRE(value && attribute >= PERFORMANCE_RANK && attribute <= ARRAY_ACCESS, CUDA_ERROR_INVALID_VALUE);
    SIM_REQUIRE(sim_device_is_known(device) && sim_device_is_known(peer) && device != peer, CUDA_ERROR_INVALID_DEVICE);
    *value = attribute != PERFORMANCE_RANK && sim_device_is_peer(device, peer);
    return CUDA_SUCCESS;
}

static unsigned long long *place_of(CUcontext context, unsigned long long id) {
    for (unsigned i = 0; i < SIM_PEERS_MAX; i++)
        if (context->peers[i] == id) return &context->peers[i];
    return NULL;
}

static CUresult find(CUcontext peer, CUcontext *context) {
    SIM_TRY(sim_context_current(context));
    return sim_context_is_known(peer) && peer->alive && peer != *context ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
}

CUresult sim_cuCtxEnablePeerAccess(CUcontext peer, unsigned int flags) {
    CUcontext context;
    SIM_REQUIRE(flags == 0, CUDA_ERROR_INVALID_VALUE);
    SIM_TRY(find(peer, &context));
    SIM_REQUIRE(sim_device_is_peer(context->device, peer->device), CUDA_ERROR_PEER_ACCESS_UNSUPPORTED);
    SIM_REQUIRE(!place_of(context, peer->id), CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED);
    unsigned long long *place = place_of(context, 0);
    SIM_REQUIRE(place, CUDA_ERROR_TOO_MANY_PEERS);
    *place = peer->id;
    return CUDA_SUCCESS;
}

CUresult sim_cuCtxDisablePeerAccess(CUcontext peer) {
    CUcontext context;
    SIM_TRY(find(peer, &context));
    unsigned long long *place = place_of(context, peer->id);
    SIM_REQUIRE(place, CUDA_ERROR_PEER_ACCESS_NOT_ENABLED);
    *place = 0;
    return CUDA_SUCCESS;
}

/* The two forms differ in two words only, which name contexts in one of them. */
static CUresult narrow(const CUDA_MEMCPY3D_PEER *copy, CUDA_MEMCPY3D *result) {
    _Static_assert(sizeof *copy == sizeof *result, "the forms are alike");
    SIM_REQUIRE(copy, CUDA_ERROR_INVALID_VALUE);
    SIM_REQUIRE(sim_context_is_known(copy->srcContext) && sim_context_is_known(copy->dstContext), CUDA_ERROR_INVALID_CONTEXT);
    memcpy(result, copy, sizeof *result);
    result->reserved0 = result->reserved1 = NULL;
    return CUDA_SUCCESS;
}

CUresult sim_cuMemcpy3DPeer(const CUDA_MEMCPY3D_PEER *copy) {
    CUDA_MEMCPY3D plain;
    SIM_TRY(narrow(copy, &plain));
    return sim_cuMemcpy3D_v2(&plain);
}

CUresult sim_cuMemcpy3DPeerAsync(const CUDA_MEMCPY3D_PEER *copy, CUstream stream) {
    CUDA_MEMCPY3D plain;
    SIM_TRY(narrow(copy, &plain));
    return sim_cuMemcpy3DAsync_v2(&plain, stream);
}
