/* pages: where the host memory of the reservoir comes from: a file of the agent, or the kernel.
 *
 * A file of an agent is mapped as a whole. It has no name, only the agent and this process have it, and nobody can change its size. The agent fills it
 * with pages, so they count for the agent's control group. It never takes them from a process that lives. */
#ifndef SL_PAGES_H
#define SL_PAGES_H

#include <stdbool.h>
#include <stdint.h>

#include "os/report.h"

#define SL_PAGES_BORDER (2ull << 20) /* of a large page: all memory begins and ends there */

/* Before the reservoir grows to so many bytes. An agent that has ended, or that is another now, cannot refuse: the file is used on, and the process
 * pays for what grows. empty: nothing is in use. False: the agent has not so much. */
bool sl_pages_ask(uint64_t bytes, bool empty, sl_reason_t *reason);
/* The agent has this memory for us, so nobody has to look whether the host has it. */
bool sl_pages_granted(void);
/* Memory for this offset of the reservoir, not touched yet, which a child of the program does not get. NULL: there is none. */
char *sl_pages_take(uint64_t offset, uint64_t bytes);
/* Memory of the process itself; munmap gives it back. */
char *sl_pages_map(uint64_t bytes);
/* False, and errno: the kernel cannot have this memory written to. */
bool sl_pages_touch(char *start, uint64_t bytes);
void sl_pages_give(char *start, uint64_t bytes);
/* Nothing that was taken is used or given back any more: something may still write to it. */
void sl_pages_leave(void);
/* Waits until the agent has filled this memory, for as long as it fills anything since sl_pages_watch. False: it has not. */
bool sl_pages_wait(char *start, uint64_t bytes);
void sl_pages_watch(void);

#endif
