/* stops: see stops.h.
 *
 * The time off the GPU up to a moment is a line through points: two for each stop. When there is no room for more, every second point of
 * the older half goes. So the sum over a kernel of minutes stays right, and only where in it the old stops lay gets vague. */
#include "slices/stops.h"

#include <stdatomic.h>
#include <stdbool.h>

#include "os/fork.h"
#include "os/mutex.h"

#define POINTS 2048u

typedef struct {
    uint64_t at, off; /* by then the work was off the GPU for so long */
} point_t;

static sl_mutex_t lock;
static point_t points[POINTS];
static _Atomic unsigned count;
static bool is_off; /* since the last point */

static void make_room(void) {
    if (count < POINTS)
        return;
    unsigned kept = 0;
    for (unsigned i = 0; i < POINTS; i++)
        if (i >= POINTS / 2 || i % 2 == 0)
            points[kept++] = points[i];
    count = kept;
}

/* With the lock held. */
static uint64_t off_until(uint64_t at) {
    unsigned low = 0, high = count; /* points[low] is the last one that is not later */
    if (!high || at <= points[0].at)
        return 0;
    while (high - low > 1) {
        unsigned middle = (low + high) / 2;
        *(points[middle].at <= at ? &low : &high) = middle;
    }
    uint64_t past = at - points[low].at;
    if (low + 1 == count)
        return points[low].off + (is_off ? past : 0);
    uint64_t span = points[low + 1].at - points[low].at, more = points[low + 1].off - points[low].off;
    return points[low].off + (span ? (uint64_t)((double)more * ((double)past / (double)span)) : 0);
}

static void add(uint64_t at, bool off) {
    sl_mutex_lock_briefly(&lock);
    if (off != is_off) {
        make_room();
        uint64_t last = count ? points[count - 1].at : 0, now = at > last ? at : last;
        points[count] = (point_t){now, off_until(now)};
        is_off = off;
        count++;
    }
    sl_mutex_unlock(&lock);
}

void sl_stops_begin(uint64_t nanos) {
    add(nanos, true);
}

void sl_stops_end(uint64_t nanos) {
    add(nanos, false);
}

uint64_t sl_stops_between(uint64_t from, uint64_t to) {
    if (!atomic_load_explicit(&count, memory_order_relaxed) || to <= from)
        return 0;
    sl_mutex_lock_briefly(&lock);
    uint64_t nanos = off_until(to) - off_until(from);
    sl_mutex_unlock(&lock);
    return nanos;
}

static void forget(void) {
    lock = (sl_mutex_t)SL_MUTEX_INITIALIZER;
    count = 0;
    is_off = false;
}
SL_FORK_FORGETS(forget);
