/* CUDA arrays: device memory with rows, slices and a format. */
#ifndef SIM_ARRAY_H
#define SIM_ARRAY_H

#include "entry/sim.h"

struct CUarray_opaque {
    CUDA_ARRAY3D_DESCRIPTOR description;
    CUdeviceptr address; /* 0: it has no memory of its own */
    size_t element_bytes, pitch, padded_rows;
    CUmipmappedArray mipmap; /* of which it is a level */
};

enum { SIM_ARRAY_LAYERED = 0x01, SIM_ARRAY_CUBEMAP = 0x04, SIM_ARRAY_SPARSE = 0x40, SIM_ARRAY_DEFERRED = 0x80 };

bool sim_array_has_memory(const CUDA_ARRAY3D_DESCRIPTOR *description);
const CUDA_ARRAY3D_DESCRIPTOR *sim_mipmap_description(CUmipmappedArray mipmap);
size_t sim_array_row_bytes(CUarray array);
size_t sim_array_rows(CUarray array);
size_t sim_array_slices(CUarray array);

#endif
