/* contexts: the contexts of this process, so that a pause can wait for their work. */
#ifndef SL_CONTEXTS_H
#define SL_CONTEXTS_H

#include "cuda_abi.h"

void sl_contexts_add(CUcontext context);
void sl_contexts_remove(CUcontext context);
/* Waits until the work in all contexts has ended. The first error that a context answers: mostly the error of its work, which every later call answers
 * too. Such a context runs nothing any more, and its memory cannot be read. The program still gets the error from its own calls. */
CUresult sl_contexts_drain(void);

#endif
