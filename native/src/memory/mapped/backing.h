/* backing: the driver's part of mapped memory: reserves addresses, puts memory behind them and takes it away. Its only state is what each
 * GPU can do. */
#ifndef SL_BACKING_H
#define SL_BACKING_H

#include <stdbool.h>
#include <stdint.h>

#include "cuda_abi.h"

#define SL_BACKING_ACCESSES 65 /* a GPU itself and its peers */

/* Whether memory of the GPU can be mapped, in blocks of 2 MiB. Asks the driver once. */
bool sl_backing_can(CUdevice device, unsigned gpu);
/* The memory of the GPU: no driver allocates more. */
uint64_t sl_backing_total(CUdevice device);
/* Reserves addresses for at least so many bytes. False: the driver refuses. */
bool sl_backing_reserve(CUdevice device, uint64_t least, uint64_t *base, uint64_t *bytes);
/* Puts memory of the GPU behind addresses, for the GPUs that the list names. A failure leaves nothing behind. *stuck: it left a mapping
 * that the driver does not undo, so the addresses must not be used again. */
CUresult sl_backing_put(CUdevice device, uint64_t base, uint64_t bytes, const CUmemAccessDesc *accesses, unsigned count, bool *stuck);
CUresult sl_backing_take(uint64_t base, uint64_t bytes);
CUresult sl_backing_allow(uint64_t base, uint64_t bytes, const CUmemAccessDesc *accesses, unsigned count);
/* Waits until the work of a context has ended; NULL: of the current one. */
CUresult sl_backing_wait(CUcontext context);
/* Whether memory of the GPU can be passed to other processes. */
bool sl_backing_can_share(CUdevice device);
/* A descriptor of the memory behind an address, for another process. */
CUresult sl_backing_export(uint64_t address, int *fd);
/* Puts the memory of such a descriptor behind addresses, for a GPU of this process. A failure leaves nothing, or a stuck mapping. */
CUresult sl_backing_import(int fd, CUdevice user, uint64_t base, uint64_t bytes, bool *stuck);
CUmemAccessDesc sl_backing_access(CUdevice device, bool allowed);

#endif
