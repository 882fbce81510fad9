/* host_memory: how much memory of the host this process may still take. */
#ifndef SL_HOST_MEMORY_H
#define SL_HOST_MEMORY_H

#include <stdint.h>

/* What the machine and the control groups of this process have free; 5 % of it is left to others. UINT64_MAX: nothing tells. */
uint64_t sl_host_memory_free(void);

/* In front of /proc and /sys. Tests say another. */
extern const char *sl_host_memory_root;

#endif
