/* control: the few calls that this process makes to the kernel driver, on its own channel groups.
 *
 * Nothing here is documented by NVIDIA. So a probe comes first, and any answer that is not expected ends the control for good: what was
 * changed is restored, the log says it once, and the region shows it. Only threads of the library call this, because a call may be slow. */
#ifndef SL_CONTROL_H
#define SL_CONTROL_H

#include <stdbool.h>
#include <stdint.h>

/* Whether the process controls its slices. The first time that it has a channel group, it probes. */
bool sl_control_is_ready(void);
/* Gives all groups this slice, those included that are new since the last time. 0: the slice that libcuda has set. Returns the slice that they
 * have now, or 0 if there is no group or no control. */
uint32_t sl_control_slice(uint32_t micros);
/* Cuts the work that runs now, once. */
bool sl_control_preempt(void);
/* Takes the process's work off the GPU, running kernels included, until the second call. Holds until then, also for new channels if it
 * is called again. */
bool sl_control_stop(void);
bool sl_control_go(void);
/* Since when the work is off the GPU; 0: it is not. */
uint64_t sl_control_stopped_nanos(void);
/* Grows whenever the process's own work is cut, stopped or goes on. */
unsigned sl_control_interruptions(void);
/* The driver has stored its state: the objects are gone. */
void sl_control_drop(void);

#endif
