/* storm_record: what each thread did last, in memory that the parent shares. So the log alone explains a sample over the limit, also of a
 * dead process. Events are written without a lock: of two threads that write at once, an event may be torn. */
#define _GNU_SOURCE
#include "storm.h"

#include <stdio.h>

#define LINES_MOST 80

static const char *const deeds[] = {"takes", "took", "gives", "gave", "holds past Sluice", "held past Sluice", "sees that gone"};

void record(child_t *child, int thread, deed_t deed, const request_t *request, int status) {
    event_t *event = &child->event[child->events++ % EVENTS_KEPT];
    *event = (event_t){storm_now(), request->bytes, status, (uint8_t)thread, (uint8_t)deed, (uint8_t)request->way};
}

static void tell_event(const event_t *event, int number, uint64_t began) {
    bool ended = event->deed == TOOK || event->deed == GAVE;
    fprintf(stderr, "  %.4f s, process %d thread %d: %s %s of %.3f MiB", (double)(event->nanos - began) / 1e9, number, event->thread, deeds[event->deed % 7],
            way_names[event->way % WAY_COUNT], (double)event->bytes / (double)MIB);
    if (ended && event->status)
        fprintf(stderr, ": status %d", event->status);
    fprintf(stderr, "\n");
}

/* In the order of time, the oldest are left out where they are too many. */
void record_tell(uint64_t began, uint64_t since) {
    uint64_t next[LINES_MOST + 1] = {0};
    int from[LINES_MOST];
    const event_t *told[LINES_MOST];
    int count = 0;
    for (int i = 0; i < options.processes; i++)
        for (int k = 0; k < EVENTS_KEPT; k++) {
            const event_t *event = &shared->child[i].event[k];
            if (event->nanos < since || (count == LINES_MOST && event->nanos < next[0]))
                continue;
            if (count == LINES_MOST) {
                for (int j = 1; j < count; j++)
                    next[j - 1] = next[j], told[j - 1] = told[j], from[j - 1] = from[j];
                count--;
            }
            int at = count++;
            for (; at > 0 && next[at - 1] > event->nanos; at--)
                next[at] = next[at - 1], told[at] = told[at - 1], from[at] = from[at - 1];
            next[at] = event->nanos, told[at] = event, from[at] = i;
        }
    for (int i = 0; i < count; i++)
        tell_event(told[i], from[i], began);
}

void record_tell_doing(int number) {
    for (int i = 0; i < options.threads; i++) {
        int doing = shared->child[number].doing[i];
        fprintf(stderr, " %s%s", doing >= 100 ? "the end of " : "", doing < 0 ? "nothing" : way_names[doing % 100 % WAY_COUNT]);
    }
}
