/* slice: the time slice that a process gives its work, by what it knows of itself and sees on the board. */
#ifndef SL_SLICE_H
#define SL_SLICE_H

#include "turns/seen.h"

#define SL_SLICE_ALONE_MICROS 1u /* measured on an H200: bursts beside it take 1.00 to 1.21 times as long as alone */
/* Chosen, not measured: for work of tenants below that runs at once. With 1 us each an H200 only changes between them: two tenants had 0.007 % of their speed. */
#define SL_SLICE_BESIDE_MICROS SL_SEEN_SHORT_MICROS
/* Chosen: with libcuda's 2 ms, work of more than that is interrupted for the tenants below: 0.3 ms each time on an H200. */
#define SL_SLICE_OUTSIDE_MICROS 20000u

typedef struct {
    sl_seen_rank_t rank;
    bool takes_turns, has_turn;
    bool works;      /* its work runs now, as its events tell; not asked where it takes no turns */
    bool is_divided; /* several processes of the tenant, or channel groups of this process, work during one turn */
    bool any_silent; /* another tenant below works and does not say when */
    bool any_beside; /* another tenant below has ever worked */
} sl_slice_view_t;

/* Its work runs, or may run, while that of another tenant below does. */
static inline bool sl_slice_is_beside(const sl_slice_view_t *view) {
    bool outside_turns = view->takes_turns ? view->works && !view->has_turn : view->any_beside;
    return outside_turns || view->is_divided || view->any_silent;
}

/* 0: that of libcuda. */
static inline uint32_t sl_slice_choose(const sl_slice_view_t *view) {
    if (view->rank == SL_SEEN_BELOW)
        return sl_slice_is_beside(view) ? SL_SLICE_BESIDE_MICROS : SL_SLICE_ALONE_MICROS;
    return view->rank == SL_SEEN_ABOVE && !view->is_divided ? SL_SLICE_OUTSIDE_MICROS : 0;
}

#endif
