/* context: contexts and their ends. */
#ifndef SL_CONTEXT_H
#define SL_CONTEXT_H

#include <stdbool.h>
#include <stdint.h>

#include "cuda_abi.h"

bool sl_context_primary_active(CUdevice device);
/* If the status is success, refunds everything in the primary context of the device. */
CUresult sl_context_settle_primary(CUresult status, CUdevice device, CUcontext context, uint32_t teardown);

/* Before cuInit. The room entry defines it. */
void sl_context_beginning(void);
/* Before the driver is asked to make a context, and after it has made one. The room pause defines both. */
void sl_context_making(void);
void sl_context_made(CUcontext context);
/* A context of this GPU is made and charged. The room entry defines it. */
void sl_context_counted(unsigned gpu);
/* The next call certainly ends the context: its work may be waited for. The room entry defines it. */
void sl_context_ending(CUcontext context);
/* Before the driver is asked to end a context, and after it has answered. The room entry defines both: the gate must know, too. */
void sl_context_leave(CUcontext context);
void sl_context_left(CUcontext context, bool gone);

#endif
