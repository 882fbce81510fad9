/* hold: which threads of the program are in the driver, and the place where their calls wait while the process is held.
 *
 * A thread says that it is in the driver with one ordinary store into a place of its own, then it looks whether the process is held.
 * The thread that holds the process first says so, then makes every running thread pass a memory barrier (sl_hold_ask), then reads all
 * places. So either the caller sees the word, or the holder sees the caller, and a call pays for no barrier.
 *
 * While a stream captures, calls pass although the process is held: the capture has to end first, by calls of any thread. */
#ifndef SL_HOLD_H
#define SL_HOLD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "os/compiler.h"
#include "os/thread.h"

struct sl_hold_place {
    _Atomic uint32_t inside; /* calls of this thread in the driver, one in another */
    _Atomic uint32_t thread; /* its number; 0: nobody has the place */
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

/* After sl_hold_enter, by a call that finds the process held: waits outside until it is not. A call within a call goes on. */
void sl_hold_wait(void) __attribute__((cold));

/* Around a wait in the library, without a lock: the thread is not in the driver meanwhile, and goes on when the process is not held.
 * The result of the first is the argument of the second. A thread that is in no call may call both. */
uint32_t sl_hold_step_out(void);
void sl_hold_step_in(uint32_t inside);

/* For the thread that holds the process. After sl_hold_ask calls wait; sl_hold_count tells how many threads are still in the driver, or
 * that a stream captures: then it is at least 1. */
void sl_hold_ask(void);
unsigned sl_hold_count(void);
void sl_hold_release(void);

#endif
