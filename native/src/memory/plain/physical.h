/* physical: memory apart from addresses (cuMemCreate): charged until the last handle and the last mapping are gone. */
#ifndef SL_PHYSICAL_H
#define SL_PHYSICAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cuda_abi.h"

typedef struct {
    uint64_t handle; /* the program's number; see handle.h */
    uint64_t bytes;
    uint32_t serial;
    uint32_t references; /* handles given out */
    uint32_t mappings;
    uint16_t gpu;
    bool stays; /* another process or device may use it: it cannot leave the GPU */
} sl_physical_t;

typedef struct {
    uint64_t address;
    uint64_t bytes;
    uint64_t handle;
    uint32_t serial;
} sl_physical_mapping_t;

/* Keeps the memory charged while an array maps the handle. Returns the number of this pin; 0: the handle is not accounted. */
uint32_t sl_physical_pin(CUmemGenericAllocationHandle handle);
void sl_physical_unpin(CUmemGenericAllocationHandle handle, uint32_t pin);

/* From now on the memory cannot leave the GPU. */
void sl_physical_stay(CUmemGenericAllocationHandle handle);
void sl_physical_stay_at(CUdeviceptr address, uint64_t bytes);
bool sl_physical_any_stays(void);

/* All handles, and all mappings, in no order. Both fill at most room records, and return how many there are. */
size_t sl_physical_handles(sl_physical_t *list, size_t room);
size_t sl_physical_mappings(sl_physical_mapping_t *list, size_t room);

#endif
