/* look: what NVML and the ledger say of this process at one moment, and how far that can be trusted. */
#ifndef SL_LOOK_H
#define SL_LOOK_H

#include <stdbool.h>
#include <stdint.h>

#include "memory/overhead.h"

/* Whether NVML was asked for this GPU. */
bool sl_look_was_asked(unsigned gpu);
/* Whether the look tells what this process has; with the first that does, it is decided whether NVML knows the process. */
bool sl_look_tells(const sl_overhead_look_t *look);
/* The least overhead that the look leaves possible: all managed memory is on the GPU, and what is under way, too. */
uint64_t sl_look_least(const sl_overhead_look_t *look);
/* What came between two looks, beyond what was asked for by name. */
int64_t sl_look_difference(const sl_overhead_look_t *before, const sl_overhead_look_t *now);
/* Whether no thread took or gave back anything by name between two looks: then the difference is known to the byte. */
bool sl_look_was_quiet(const sl_overhead_look_t *before, const sl_overhead_look_t *now);

/* A context ends: until its end was booked, what is charged may be gone. */
void sl_look_begin_end(void);
void sl_look_end_end(void);

#endif
