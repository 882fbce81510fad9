/* context_leave: tells the gate and the room pause that a context ends. */
#include "compute/gate.h"
#include "memory/plain/context.h"
#include "pause/contexts.h"

void sl_context_leave(CUcontext context) {
    sl_gate_leave_context(context);
}

void sl_context_left(CUcontext context, bool gone) {
    sl_gate_settle_context(context, gone);
    if (gone)
        sl_contexts_remove(context);
}
