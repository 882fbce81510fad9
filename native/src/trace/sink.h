/* sink: which of the trace and the profile want each call, besides the counters.
 *
 * While no sink is on, the generated wrappers take the short path. That path needs the processor's counter, so a missing or
 * unknown counter is a bit here, too. A held process (hold.h) also sets a bit: so a call checks all of this with one load. */
#ifndef SL_SINK_H
#define SL_SINK_H

#include <stdatomic.h>
#include <stdbool.h>

#include "os/compiler.h"

enum { SL_SINK_TRACE = 1, SL_SINK_PROFILE = 2, SL_SINK_NO_COUNTER = 4, SL_SINK_HELD = 8 };
SL_OWN extern _Atomic unsigned sl_sink_on;
void sl_sink_switch(unsigned sink, bool on);

#endif
