/* context_leave: tells other rooms that contexts begin and end. */
#include "compute/gate.h"
#include "compute/lane.h"
#include "memory/plain/context.h"
#include "pause/contexts.h"
#include "slices/hook.h"
#include "tenant/tenant.h"

void sl_context_beginning(void) {
    if (sl_tenant_attach() == SL_TENANT_ATTACHED)
        sl_hook_begin();
}

void sl_context_counted(unsigned gpu) {
    if (SL_LOAD(sl_options_slices) != SL_OPTIONS_SLICES_OFF)
        sl_lane_show(gpu);
}

void sl_context_ending(CUcontext context) {
    sl_gate_finish_context(context);
}

void sl_context_leave(CUcontext context) {
    sl_contexts_leave(context);
    sl_gate_leave_context(context);
}

void sl_context_left(CUcontext context, bool gone) {
    sl_gate_settle_context(context, gone);
    if (gone)
        sl_contexts_remove(context);
}
