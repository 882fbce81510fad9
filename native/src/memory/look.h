/* look: what NVML and the ledger say about this process at one moment, and how far that can be trusted. */
#ifndef SL_LOOK_H
#define SL_LOOK_H

#include <stdbool.h>
#include <stdint.h>

#include "memory/overhead.h"

/* Whether NVML was asked for this GPU. */
bool sl_look_was_asked(unsigned gpu);
/* Whether the look shows the memory of this process. The first look that does also decides whether NVML knows the process. */
bool sl_look_tells(const sl_overhead_look_t *look);
/* The least possible overhead: if all managed memory, and all memory in flight, is on the GPU. */
uint64_t sl_look_least(const sl_overhead_look_t *look);
/* What the process got between two looks, beyond what it asked for by name. */
int64_t sl_look_difference(const sl_overhead_look_t *before, const sl_overhead_look_t *now);
/* Whether no thread took or gave back anything by name between two looks: then the difference is known to the byte. */
bool sl_look_was_quiet(const sl_overhead_look_t *before, const sl_overhead_look_t *now);

/* A context ends: until its end is booked, charged memory may be gone. */
void sl_look_begin_end(void);
void sl_look_end_end(void);

#endif
