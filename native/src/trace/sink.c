/* sink: which of the trace and the profile want each call. */
#include "trace/sink.h"

SL_HOT_DATA _Atomic unsigned sl_sink_on = SL_SINK_NO_COUNTER;

void sl_sink_switch(unsigned sink, bool on) {
    if (on)
        atomic_fetch_or(&sl_sink_on, sink);
    else
        atomic_fetch_and(&sl_sink_on, ~sink);
}
