/* timens: how far the monotonic clock of this process's time namespace is ahead of the machine's. Times in shared files are the machine's. */
#ifndef SL_TIMENS_H
#define SL_TIMENS_H

#include <stdatomic.h>
#include <stdint.h>

#define SL_TIMENS_UNKNOWN INT64_MIN
extern _Atomic int64_t sl_timens_known;
int64_t sl_timens_find(void);

static inline int64_t sl_timens_offset(void) {
    int64_t known = atomic_load_explicit(&sl_timens_known, memory_order_relaxed);
    return __builtin_expect(known == SL_TIMENS_UNKNOWN, 0) ? sl_timens_find() : known;
}

/* After a fork: the child may be in another namespace than its parent. */
void sl_timens_forget(void);

#endif
