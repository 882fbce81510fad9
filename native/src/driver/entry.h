/* entry: the tables of the driver's entry points, which the generated sources fill, and the few status codes that Sluice returns. */
#ifndef SL_ENTRY_H
#define SL_ENTRY_H

#include "os/compiler.h"

enum {
    CUDA_SUCCESS = 0,
    CUDA_ERROR_INVALID_VALUE = 1,
    CUDA_ERROR_OUT_OF_MEMORY = 2,
    CUDA_ERROR_NO_DEVICE = 100,
    CUDA_ERROR_NOT_FOUND = 500,
    CUDA_ERROR_NOT_READY = 600,
    CUDA_ERROR_NOT_PERMITTED = 800,
};

enum {
    NVML_SUCCESS = 0,
    NVML_ERROR_NOT_FOUND = 6,
    NVML_ERROR_INSUFFICIENT_SIZE = 7,
    NVML_ERROR_FUNCTION_NOT_FOUND = 13,
    NVML_ERROR_MEMORY = 20,
};

#define SL_ENTRY_NAME_BYTES 64

typedef struct {
    unsigned index; /* position in the table of real functions */
    void *wrapper;  /* the function that this library exports under the same name */
} sl_entry_wrapper_t;

/* The entry points of one library of the driver. */
typedef struct {
    void **real; /* its table of real functions */
    const char (*names)[SL_ENTRY_NAME_BYTES]; /* not pointers: the loader would have to relocate each */
    unsigned count;
    const sl_entry_wrapper_t *wrappers;
    unsigned wrapper_count;
} sl_entry_table_t;

extern const sl_entry_table_t sl_entry_cuda, sl_entry_nvml;

/* Called by the trampolines of libcuda: the driver's function, or one that says CUDA_ERROR_NOT_FOUND. */
void *sl_entry_resolve(unsigned index);

#endif
