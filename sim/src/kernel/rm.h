/* The kernel driver's calls for libcuda: objects, and the channel groups that the GPU switches between. Numbers and layouts are those of
 * spec/rm.api, as far as libcuda uses them; this side reads them as words. */
#ifndef SIM_RM_H
#define SIM_RM_H

#include <stdbool.h>
#include <stdint.h>

#define SIM_RM_GROUPS 64

/* As libcuda calls it: opens the device, makes and frees the groups of contexts. */
bool sim_rm_open(void);
void sim_rm_close(void);
int sim_rm_make_group(void); /* its number, or -1: without one the context has no time slice */
void sim_rm_free_group(int group);

/* As the GPU sees it. Without a group nothing is limited. */
bool sim_rm_is_disabled(int group);
uint64_t sim_rm_slice_micros(int group);

#endif
