/* Generated from spec/nvml.api: the types of the API, as much of them as the ABI needs. */
#ifndef SL_NVML_ABI_H
#define SL_NVML_ABI_H

#include <stddef.h>

typedef struct nvmlDevice_t_opaque *nvmlDevice_t;
typedef int nvmlReturn_t;
typedef struct {
    unsigned long long total;
    unsigned long long free;
    unsigned long long used;
} nvmlMemory_t;

#endif
