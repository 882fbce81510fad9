/* control: the few calls that this process makes to the kernel driver, on its own channel groups.
 *
 * Nothing here is documented by NVIDIA. So a probe comes first, and any answer that is not expected ends the control for good: what was
 * changed is restored, the log says it once, and the region shows it. But a probe that was only slow is repeated now and then. Only threads of
 * the library call this, because a call may be slow.
 *
 * If the driver takes work off the GPU and then refuses to put it back, a thread goes on trying for ten minutes, and the log says so. */
#ifndef SL_CONTROL_H
#define SL_CONTROL_H

#include <stdbool.h>
#include <stdint.h>

/* Whether the process controls its slices. The first time that it has a channel group, it probes. */
bool sl_control_is_ready(void);
/* Gives all groups this slice, those included that are new since the last time. 0: the slice that libcuda has set. Returns the slice that they
 * have now, or 0 if there is no group or no control. */
uint32_t sl_control_slice(uint32_t micros);
/* How many groups had a slice when it was last set. */
unsigned sl_control_groups(void);
/* Cuts the work that runs now, once. */
bool sl_control_preempt(void);
/* Takes the process's work off the GPU, running kernels included, as long as one of these reasons holds. A second call for the same
 * reason also takes off what is new since. False: nothing is off for this reason. */
typedef enum {
    SL_CONTROL_PAUSE = 1,  /* a tool has paused the process */
    SL_CONTROL_STRICT = 2, /* the tenant's cap is used up, see compute/strict.h */
} sl_control_reason_t;
bool sl_control_stop(sl_control_reason_t reason);
bool sl_control_go(sl_control_reason_t reason);
/* The process's work has left the GPU for a pause, so others can have its turns. The room compute defines it. */
void sl_control_stopped_for_pause(void);
/* Whether the work is off the GPU for this reason, perhaps among others. */
bool sl_control_is_stopped(sl_control_reason_t reason);
/* Grows whenever the process's own work is cut in a way that stops.h does not show. */
unsigned sl_control_interruptions(void);
/* Why the process does not control its slices; NULL: it does, or has not tried yet. */
const char *sl_control_obstacle(void);
/* Before the driver stores its state: it closes its descriptors then, perhaps in the middle of a call. All work is back on the GPU, because the
 * driver waits for it, and no call is made */
void sl_control_suspend(void);
/* until it has its state again, or has not stored it. */
void sl_control_resume(void);
/* The driver has stored its state: the objects are gone. */
void sl_control_drop(void);

#endif
