/* Modules and libraries (the same thing here), and the functions in them; a CUkernel is its CUfunction. */
#ifndef SIM_MODULE_H
#define SIM_MODULE_H

#include "code/image.h"
#include "work/work.h"

typedef enum { SIM_KERNEL_UNKNOWN, SIM_KERNEL_SPIN, SIM_KERNEL_STAMP, SIM_KERNEL_FILL, SIM_KERNEL_ADD,
               SIM_KERNEL_HEAP, SIM_KERNEL_PRINT, SIM_KERNEL_GRIND } sim_kernel_kind_t;

struct CUfunction_opaque {
    CUfunction next;
    CUmodule module;
    sim_kernel_kind_t kind;
    int dynamic_shared_bytes, carveout;
    char name[];
};

typedef struct sim_global sim_global_t;

struct CUmodule_opaque {
    CUfunction functions;
    sim_global_t *globals;
    CUdeviceptr variables; /* the memory of all of them; 0: none */
    CUcontext context; /* where they are; NULL: it was loaded without one */
    unsigned long long context_id;
    bool unread; /* neither PTX nor a cubin: any name is taken for a kernel in it */
};

CUresult sim_global_load(CUmodule module, CUcontext context, const sim_image_t *image);
void sim_global_unload(CUmodule module);
CUresult sim_module_read_file(const char *path, char **data, size_t *bytes);

#endif
