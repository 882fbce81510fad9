/* pointer: answers about addresses of mapped memory, as the driver gives them about memory of cuMemAlloc.
 *
 * The driver answers most questions about mapped memory as about its own. But it knows neither the pieces of a slab nor their contexts.
 * Where a slab has no piece, the program has no memory: there the library asks the driver about an address that the driver does not know. */
#include "driver/driver.h"
#include "hooks.h"
#include "memory/mapped/mapped.h"
#include "real.h"

enum { CONTEXT = 1, DEVICE_POINTER = 3, BUFFER_ID = 7, IPC_CAPABLE = 10, RANGE_START = 11, RANGE_SIZE = 12, HANDLE_TYPES = 14 };

#define NOWHERE 8u

/* The address to ask the driver about; *mapped: its answer is to be corrected. */
static CUdeviceptr address_to_ask(CUdeviceptr address, sl_mapped_view_t *view, bool *mapped) {
    *mapped = false;
    if (!sl_mapped_has(address))
        return address;
    *mapped = sl_mapped_look(address, view);
    return *mapped ? address : NOWHERE;
}

static void correct(void *data, int attribute, const sl_mapped_view_t *view) {
    if (attribute == CONTEXT)
        *(CUcontext *)data = view->context;
    else if (attribute == RANGE_START)
        *(CUdeviceptr *)data = view->base;
    else if (attribute == RANGE_SIZE)
        *(size_t *)data = view->bytes;
    else if (attribute == BUFFER_ID)
        *(uint64_t *)data = view->identity;
    else if (attribute == IPC_CAPABLE)
        *(unsigned *)data = view->exportable;
    else if (attribute == HANDLE_TYPES)
        *(uint64_t *)data = 0;
}

static bool is_corrected(int attribute) {
    return attribute == CONTEXT || attribute == BUFFER_ID || attribute == RANGE_START || attribute == RANGE_SIZE || attribute == IPC_CAPABLE ||
           attribute == HANDLE_TYPES;
}

/* Where the driver has no answer for mapped memory, an attribute that all memory has shows whether the driver knows the address. */
CUresult hook_cuPointerGetAttribute(void *data, CUpointer_attribute attribute, CUdeviceptr ptr) {
    if (SL_UNLIKELY(!SL_DRIVER_HAS(cuPointerGetAttribute)))
        return CUDA_ERROR_NOT_FOUND;
    sl_mapped_view_t view;
    bool mapped;
    CUdeviceptr asked = address_to_ask(ptr, &view, &mapped);
    if (!mapped || !data || !is_corrected(attribute))
        return real.cuPointerGetAttribute(data, attribute, asked);
    CUdeviceptr ignored;
    CUresult status = real.cuPointerGetAttribute(&ignored, DEVICE_POINTER, asked);
    if (status == CUDA_SUCCESS)
        correct(data, attribute, &view);
    return status;
}

CUresult hook_cuPointerGetAttributes(unsigned int numAttributes, CUpointer_attribute *attributes, void **data, CUdeviceptr ptr) {
    if (SL_UNLIKELY(!SL_DRIVER_HAS(cuPointerGetAttributes)))
        return CUDA_ERROR_NOT_FOUND;
    sl_mapped_view_t view;
    bool mapped;
    CUdeviceptr asked = address_to_ask(ptr, &view, &mapped);
    CUresult status = real.cuPointerGetAttributes(numAttributes, attributes, data, asked);
    for (unsigned i = 0; status == CUDA_SUCCESS && mapped && i < numAttributes; i++)
        correct(data[i], attributes[i], &view);
    return status;
}

CUresult hook_cuMemGetAddressRange_v2(CUdeviceptr *pbase, size_t *psize, CUdeviceptr dptr) {
    if (SL_UNLIKELY(!SL_DRIVER_HAS(cuMemGetAddressRange_v2)))
        return CUDA_ERROR_NOT_FOUND;
    sl_mapped_view_t view;
    bool mapped;
    CUdeviceptr asked = address_to_ask(dptr, &view, &mapped);
    CUresult status = real.cuMemGetAddressRange_v2(pbase, psize, asked);
    if (status != CUDA_SUCCESS || !mapped)
        return status;
    if (pbase)
        *pbase = view.base;
    if (psize)
        *psize = view.bytes;
    return status;
}
