/* gate_on: whether calls have to pass the gate at all. Knows the limits of the tenant, and no lane. */
#ifndef SL_GATE_ON_H
#define SL_GATE_ON_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "os/compiler.h"

/* SL_GATE_ON: every call that submits work passes the gate. Otherwise no call does while the limits have this epoch. */
#define SL_GATE_ON UINT32_MAX
SL_OWN extern _Atomic uint32_t sl_gate_off_epoch;
SL_OWN extern const _Atomic uint32_t *_Atomic sl_gate_epoch; /* of the limits now */
bool sl_gate_decide(void);

static inline bool sl_gate_is_on(void) {
    uint32_t off_epoch = SL_LOAD(sl_gate_off_epoch);
    if (off_epoch == SL_GATE_ON)
        return true;
    const _Atomic uint32_t *now = SL_LOAD(sl_gate_epoch);
    return SL_UNLIKELY(SL_LOAD(*now) != off_epoch) && sl_gate_decide();
}

#endif
