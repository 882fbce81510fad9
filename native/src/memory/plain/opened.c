/* opened: see opened.h. */
#include "memory/plain/opened.h"

#include <stdatomic.h>

#include "driver/driver.h"
#include "hooks.h"
#include "os/fork.h"
#include "real.h"

static atomic_int by_ipc;
static atomic_bool imported;

void sl_opened_note_import(void) {
    atomic_store(&imported, true);
}

bool sl_opened_any(void) {
    return atomic_load(&by_ipc) > 0 || atomic_load(&imported);
}

static CUresult count(CUresult status, int change) {
    if (status == CUDA_SUCCESS)
        atomic_fetch_add(&by_ipc, change);
    return status;
}

#define OPEN_HOOK(function)                                                                               \
    CUresult hook_##function(CUdeviceptr *pdptr, CUipcMemHandle handle, unsigned int Flags) {             \
        if (!SL_DRIVER_HAS(function))                                                                     \
            return CUDA_ERROR_NOT_FOUND;                                                                  \
        return count(real.function(pdptr, handle, Flags), 1);                                             \
    }
OPEN_HOOK(cuIpcOpenMemHandle)
OPEN_HOOK(cuIpcOpenMemHandle_v2)

CUresult hook_cuIpcCloseMemHandle(CUdeviceptr dptr) {
    if (!SL_DRIVER_HAS(cuIpcCloseMemHandle))
        return CUDA_ERROR_NOT_FOUND;
    return count(real.cuIpcCloseMemHandle(dptr), -1);
}

static void forget(void) {
    atomic_store(&by_ipc, 0);
    atomic_store(&imported, false);
}
SL_FORK_FORGETS(forget);
