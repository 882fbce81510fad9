/* host: what of the host this process may still use. */
#ifndef SL_HOST_H
#define SL_HOST_H

#include <stdint.h>

/* What the machine and the control groups of this process have free; 5 % of it is left to others. UINT64_MAX: nothing tells. */
uint64_t sl_host_memory_free(void);
/* At least 1: those that this thread may run on, or as many as the quota of a control group is worth. */
unsigned sl_host_processors(void);

/* In front of /proc and /sys. Tests say another. */
extern const char *sl_host_root;

#endif
