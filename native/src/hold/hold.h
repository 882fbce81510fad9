/* hold: which threads of the program are in the driver, and the place where their calls wait while the process is held.
 *
 * A thread marks itself as in the driver with one ordinary store into a place of its own. Then it checks whether the process is held.
 * The holder first sets the word `held`, then makes every running thread pass a memory barrier (sl_hold_ask), then reads all places.
 * So either the calling thread sees the word, or the holder sees the thread, and no call needs a barrier.
 *
 * While a stream captures, calls pass even in a held process: only calls of the program can end the capture. */
#ifndef SL_HOLD_H
#define SL_HOLD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "os/compiler.h"
#include "os/thread.h"

struct sl_hold_place {
    _Atomic uint32_t inside; /* depth of nested calls of this thread in the driver */
    _Atomic uint32_t thread; /* its number; 0: the place is free */
} __attribute__((aligned(64)));
typedef struct sl_hold_place sl_hold_place_t;

/* Gives the calling thread a place. */
sl_hold_place_t *sl_hold_begin_thread(void) __attribute__((cold));

/* Around each call of the program. */
SL_INLINE void sl_hold_enter(void) {
    sl_hold_place_t *place = sl_thread.hold;
    if (SL_UNLIKELY(!place))
        place = sl_hold_begin_thread();
    atomic_store_explicit(&place->inside, SL_LOAD(place->inside) + 1, memory_order_relaxed);
    atomic_signal_fence(memory_order_seq_cst);
}

SL_INLINE void sl_hold_leave(void) {
    sl_hold_place_t *place = sl_thread.hold;
    atomic_store_explicit(&place->inside, SL_LOAD(place->inside) - 1, memory_order_release);
}

SL_INLINE int sl_hold_left(int status) {
    sl_hold_leave();
    return status;
}

/* After sl_hold_enter: if the process is held, leaves the driver and waits until it is released. A nested call goes on. */
void sl_hold_wait(void) __attribute__((cold));

/* Around a wait in the library. The thread holds no lock and counts as outside the driver; step_in waits until the process is released.
 * The result of the first is the argument of the second. A thread outside any call may call both. */
uint32_t sl_hold_step_out(void);
void sl_hold_step_in(uint32_t inside);

/* Makes the first sl_hold_ask quick: without it that waits for the kernel for 6 to 8 ms (H200's host, 16 processors). It waits so long itself, alone, unless the
 * process has one thread. */
void sl_hold_prepare(void);
/* For the holder. After sl_hold_ask new calls wait. sl_hold_count tells how many threads are still in the driver; it is at least 1 while a
 * stream captures. */
void sl_hold_ask(void);
unsigned sl_hold_count(void);
void sl_hold_release(void);
/* Whether the process is held: new calls wait. */
bool sl_hold_is_asked(void);

#endif
