/* CUDA arrays: device memory with rows, slices and a format. */
#ifndef SIM_ARRAY_H
#define SIM_ARRAY_H

#include "sim.h"

struct CUarray_opaque {
    CUDA_ARRAY3D_DESCRIPTOR description;
    CUdeviceptr address;
    size_t element_bytes, pitch, padded_rows;
    CUmipmappedArray mipmap; /* of which it is a level */
};

size_t sim_array_row_bytes(CUarray array);
size_t sim_array_rows(CUarray array);
size_t sim_array_slices(CUarray array);

#endif
