/* opened: memory that processes share by cuIpc.
 *
 * The driver's own memory has the driver's handles, and this file counts what is open. Mapped memory has handles that the library makes
 * (ticket.h). Only processes of the same tenant can open them. Calls on handles and addresses return what the driver would. */
#include "memory/ipc/opened.h"

#include <errno.h>
#include <stdatomic.h>
#include <unistd.h>

#include "driver/driver.h"
#include "hooks.h"
#include "memory/ipc/door.h"
#include "memory/ipc/visit.h"
#include "memory/mapped/backing.h"
#include "memory/mapped/export.h"
#include "memory/mapped/import.h"
#include "memory/mapped/mapped.h"
#include "os/fork.h"
#include "os/mutex.h"
#include "real.h"
#include "tenant/gpu.h"
#include "tenant/tenant.h"

enum { LAZY_PEER_ACCESS = 1 };
enum { INVALID_CONTEXT = 201, OPERATING_SYSTEM = 304, INVALID_HANDLE = 400, NOT_SUPPORTED = 801 };

static atomic_int by_ipc;
static atomic_bool imported;
static sl_mutex_t opening; /* held while memory of another process is opened, so that it is mapped once */

void sl_opened_note_import(void) {
    atomic_store(&imported, true);
}

bool sl_opened_any(void) {
    return atomic_load(&by_ipc) > 0 || atomic_load(&imported) || sl_import_any();
}

static CUresult count(CUresult status, int change) {
    if (status == CUDA_SUCCESS)
        atomic_fetch_add(&by_ipc, change);
    return status;
}

static bool has_context(CUcontext *context) {
    *context = NULL;
    return real.cuCtxGetCurrent && real.cuCtxGetCurrent(context) == CUDA_SUCCESS && *context;
}

static CUresult make_ticket(CUipcMemHandle *handle, CUdeviceptr address) {
    CUcontext context;
    sl_export_t export;
    sl_reason_t reason;
    if (!handle)
        return CUDA_ERROR_INVALID_VALUE;
    if (!has_context(&context))
        return INVALID_CONTEXT;
    CUresult status = sl_export_begin(address, &export);
    if (status == NOT_SUPPORTED)
        sl_report(SL_WARN, "cuIpcGetMemHandle: this GPU does not pass mapped memory to other processes; start the job with SLUICE_MAPPED=0");
    if (status != CUDA_SUCCESS)
        return status;
    sl_ticket_t ticket = {.magic = SL_TICKET_MAGIC, .tenant = sl_door_tenant(), .number = export.number, .address = export.address,
                          .bytes = export.bytes, .offset = export.offset};
    if (!sl_door_open(&ticket, &reason)) {
        sl_report(SL_ERROR, "cuIpcGetMemHandle: %s", reason.text);
        return OPERATING_SYSTEM;
    }
    memcpy(handle, &ticket, sizeof ticket);
    return CUDA_SUCCESS;
}

CUresult hook_cuIpcGetMemHandle(CUipcMemHandle *pHandle, CUdeviceptr dptr) {
    if (!SL_DRIVER_HAS(cuIpcGetMemHandle))
        return CUDA_ERROR_NOT_FOUND;
    return sl_mapped_has(dptr) ? make_ticket(pHandle, dptr) : real.cuIpcGetMemHandle(pHandle, dptr);
}

/* With the lock `opening` held. */
static CUresult bring(const sl_ticket_t *ticket, const sl_import_key_t *key, CUdevice device, CUdeviceptr *address) {
    CUresult status;
    sl_reason_t reason;
    int fd;
    uint64_t bytes;
    if (sl_import_open_again(key, address, &status))
        return status;
    status = sl_visit(ticket, &fd, &bytes, &reason);
    if (status != CUDA_SUCCESS) {
        sl_report(SL_WARN, "cuIpcOpenMemHandle: %s", reason.text);
        return status;
    }
    status = sl_import_open(key, fd, bytes, device, address);
    close(fd);
    if (status != CUDA_SUCCESS)
        sl_report(SL_WARN, "cuIpcOpenMemHandle: the driver does not map memory of process %u (error %d)", ticket->pid, (int)status);
    return status;
}

static CUresult refuse(CUresult status, const char *why) {
    sl_report(SL_WARN, "%s", why);
    return status;
}

static CUresult open_ticket(CUdeviceptr *address, const sl_ticket_t *ticket, unsigned flags) {
    CUcontext context;
    CUdevice device;
    if (!address || flags != LAZY_PEER_ACCESS)
        return CUDA_ERROR_INVALID_VALUE;
    if (!has_context(&context) || real.cuCtxGetDevice(&device) != CUDA_SUCCESS)
        return INVALID_CONTEXT;
    if (sl_tenant_attach() != SL_TENANT_ATTACHED || ticket->tenant != sl_door_tenant())
        return refuse(INVALID_HANDLE, "cuIpcOpenMemHandle: the handle is of mapped memory of another tenant; only processes of the same job can open it");
    if (sl_door_is_own(ticket))
        return INVALID_CONTEXT; /* as the driver */
    int gpu = sl_gpu_find(device);
    if (!sl_mapped_is_on() || gpu < 0 || !sl_backing_can(device, (unsigned)gpu))
        return refuse(NOT_SUPPORTED, "cuIpcOpenMemHandle: the handle is of mapped memory, and this process cannot map memory");
    sl_import_key_t key = {.door = ticket->door, .number = ticket->number, .context = context, .offset = ticket->offset, .bytes = ticket->bytes};
    sl_mutex_lock(&opening);
    CUresult status = bring(ticket, &key, device, address);
    sl_mutex_unlock(&opening);
    return status;
}

#define OPEN_HOOK(function)                                                                               \
    CUresult hook_##function(CUdeviceptr *pdptr, CUipcMemHandle handle, unsigned int Flags) {             \
        if (!SL_DRIVER_HAS(function))                                                                     \
            return CUDA_ERROR_NOT_FOUND;                                                                  \
        sl_ticket_t ticket;                                                                               \
        if (!sl_ticket_read(&handle, &ticket))                                                            \
            return count(real.function(pdptr, handle, Flags), 1);                                         \
        int saved = errno;                                                                                \
        CUresult status = open_ticket(pdptr, &ticket, Flags);                                             \
        errno = saved;                                                                                    \
        return status;                                                                                    \
    }
OPEN_HOOK(cuIpcOpenMemHandle)
OPEN_HOOK(cuIpcOpenMemHandle_v2)

CUresult hook_cuIpcCloseMemHandle(CUdeviceptr dptr) {
    CUcontext context;
    if (!SL_DRIVER_HAS(cuIpcCloseMemHandle))
        return CUDA_ERROR_NOT_FOUND;
    if (!sl_mapped_has(dptr))
        return count(real.cuIpcCloseMemHandle(dptr), -1);
    return has_context(&context) ? sl_import_close(dptr) : INVALID_CONTEXT;
}

static void forget(void) {
    atomic_store(&by_ipc, 0);
    atomic_store(&imported, false);
    opening = (sl_mutex_t)SL_MUTEX_INITIALIZER;
}
SL_FORK_FORGETS(forget);
