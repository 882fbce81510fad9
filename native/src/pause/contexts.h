/* contexts: the contexts of this process, so that a pause can wait for their work. */
#ifndef SL_CONTEXTS_H
#define SL_CONTEXTS_H

#include <stdbool.h>

#include "cuda_abi.h"

void sl_contexts_add(CUcontext context);
void sl_contexts_remove(CUcontext context);
/* The program is about to end the context. Waits a little for a thread that still waits for its work, for a pause that was withdrawn. */
void sl_contexts_leave(CUcontext context);
/* Waits until the work in all contexts has ended. False: goes_on said no before, so work may still run, and nothing may be moved. Only the attendant calls it.
 * status: the first error that a context answers. Mostly that is the error of its work, which every later call answers too. Such a context runs
 * nothing any more, and its memory cannot be read. The program still gets the error from its own calls. */
bool sl_contexts_drain(bool (*goes_on)(void), CUresult *status);
/* Before the driver ends: waits a little for the thread that waits for work. */
void sl_contexts_end(void);

#endif
