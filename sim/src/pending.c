#include "sim.h"
bool sim_host_find(CUdeviceptr address, CUdeviceptr *base, size_t *bytes, unsigned *flags) { return (void)address, (void)base, (void)bytes, (void)flags, false; }
bool sim_pool_find(sim_range_t *range, CUdeviceptr address, sim_allocation_t *allocation) { return (void)range, (void)address, (void)allocation, false; }
bool sim_vmm_find(sim_range_t *range, CUdeviceptr address, sim_allocation_t *allocation, bool *ok) { return (void)range, (void)address, (void)allocation, (void)ok, false; }
CUresult sim_pool_free_now(CUdeviceptr address) { return (void)address, 1; }
CUresult sim_context_drain(CUcontext context) { return (void)context, 0; }
void sim_stream_drop(CUcontext context) { (void)context; }
