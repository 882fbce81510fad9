/* mover: see mover.h. */
#include "pause/mover.h"

uint64_t sl_mover_bytes(void) {
    return 0;
}

sl_mover_result_t sl_mover_out(sl_reason_t *reason) {
    sl_report_fail(reason, "this build cannot move memory");
    return SL_MOVER_REFUSED;
}

sl_mover_result_t sl_mover_back(sl_reason_t *reason) {
    (void)reason;
    return SL_MOVER_DONE;
}

void sl_mover_prepare(uint64_t bytes) {
    (void)bytes;
}

void sl_mover_unregister(void) {}
