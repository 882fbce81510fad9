/* The table of allocations finds what was put in and costs the same however much it holds. */
#include "check.h"

#include <pthread.h>
#include <time.h>

#include "ledger/allocations.h"
#include "ledger/places.h"

#define LIVE 100000
#define BLOCK_BYTES (2u << 20)
#define CONTEXT(number) ((CUcontext)(uintptr_t)(0x1000 * (number)))

static sl_allocation_t whole(uint64_t number) {
    return (sl_allocation_t){.address = (number + 1) * BLOCK_BYTES, .bytes = number, .kind = SL_WHOLE, .gpu = 1,
                             .context = CONTEXT(1 + number % 2)};
}

static sl_allocation_t small(uint64_t number) {
    return (sl_allocation_t){.address = (1ull << 40) + number * 512, .bytes = 100, .kind = SL_SMALL, .context = CONTEXT(3)};
}

static bool add_over(sl_allocation_t allocation, sl_allocation_t *stale) {
    sl_place_lock(allocation.address);
    bool added = sl_allocations_add(&allocation, stale);
    sl_place_unlock(allocation.address);
    return added;
}

static bool take(uint64_t address, sl_allocation_t *allocation) {
    sl_place_lock(address);
    bool found = sl_allocations_take(address, allocation);
    sl_place_unlock(address);
    return found;
}

static void restore(const sl_allocation_t *allocation) {
    sl_place_lock(allocation->address);
    sl_allocations_restore(allocation);
    sl_place_unlock(allocation->address);
}

static bool add(sl_allocation_t allocation) {
    sl_allocation_t stale;
    bool added = add_over(allocation, &stale);
    CHECK(stale.kind == SL_FREE_ENTRY, "%llx was there already", (unsigned long long)allocation.address);
    return added;
}

static void should_take_out_what_was_freed_unseen(void) {
    sl_allocation_t first = small(7), found, stale;
    CHECK(add(first));
    first.bytes = 200;
    CHECK(add_over(first, &stale) && stale.kind == SL_SMALL && stale.bytes == 100);
    CHECK(take(first.address, &found) && found.bytes == 200);
    CHECK(!take(first.address, &found));
}

static void should_find_what_was_added(void) {
    sl_allocation_t found;
    for (uint64_t i = 0; i < LIVE; i++)
        CHECK(add(whole(i)));
    for (uint64_t i = 0; i < LIVE; i++) {
        uint64_t number = i * 7919 % LIVE;
        CHECK(take((number + 1) * BLOCK_BYTES, &found) && found.bytes == number && found.gpu == 1);
        CHECK(!take((number + 1) * BLOCK_BYTES, &found), "taken twice");
        if (i % 3 == 0)
            restore(&found);
    }
    for (uint64_t i = 0; i < LIVE; i++)
        CHECK(take((i * 7919 % LIVE + 1) * BLOCK_BYTES, &found) == (i % 3 == 0));
    CHECK(!take(0x1234, &found));
}

static int taken;

/* Uses the table while entries are settled: a lock held by the caller would block the test. */
static void count_taken(const sl_allocation_t *allocation) {
    sl_allocation_t found;
    taken++;
    CHECK(allocation->context == CONTEXT(1) || allocation->context == CONTEXT(3));
    CHECK(!take(allocation->address, &found), "it is still in the table");
}

static void should_drain_a_context_but_not_its_successor(void) {
    sl_allocation_t found;
    for (uint64_t i = 0; i < LIVE; i++) {
        add(whole(i));
        add(small(i));
    }
    uint32_t teardown = sl_allocations_begin_teardown();
    sl_allocation_t later = whole(LIVE);
    later.context = CONTEXT(1);
    add(later);
    sl_allocations_drain(CONTEXT(1), teardown, count_taken);
    CHECK(taken == LIVE / 2, "%d", taken);
    CHECK(take(later.address, &found), "the later context lost its memory");
    sl_allocations_drain(CONTEXT(3), teardown, count_taken);
    CHECK(taken == LIVE / 2 + LIVE, "%d", taken);
    for (uint64_t i = 0; i < LIVE; i++)
        CHECK(take(whole(i).address, &found) == (i % 2 == 1));
}

static double nanos_per_pair(void) {
    sl_allocation_t found;
    double best = 1e9;
    for (int round = 0; round < 7; round++) {
        struct timespec start, end;
        clock_gettime(CLOCK_MONOTONIC, &start);
        for (uint64_t i = 0; i < 20000; i++) {
            sl_allocation_t one = whole((1u << 20) + i % 64);
            add(one);
            take(one.address, &found);
        }
        clock_gettime(CLOCK_MONOTONIC, &end);
        double each = ((double)(end.tv_sec - start.tv_sec) * 1e9 + (double)(end.tv_nsec - start.tv_nsec)) / 20000;
        best = each < best ? each : best;
    }
    return best;
}

static void should_cost_the_same_with_many_live(void) {
    double none = nanos_per_pair();
    for (uint64_t i = 0; i < LIVE; i++)
        add(whole(i));
    double many = nanos_per_pair();
    printf("  add and take: %.0f ns with none, %.0f ns with %d live\n", none, many, LIVE);
    CHECK(many < none * 3 + 100);
}

static void *churn(void *seed) {
    sl_allocation_t found;
    for (uint64_t i = 0; i < 50000; i++) {
        sl_allocation_t one = small((uint64_t)(uintptr_t)seed * 100000 + i % 5000);
        add(one);
        CHECK(take(one.address, &found));
    }
    return NULL;
}

static void should_stand_many_threads(void) {
    pthread_t threads[4];
    for (uintptr_t i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, churn, (void *)i);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
}

static void should_forget_everything(void) {
    sl_allocation_t found;
    sl_allocations_forget();
    CHECK(!take(whole(5).address, &found) && add(whole(5)));
}

int main(void) {
    RUN(should_find_what_was_added);
    RUN(should_take_out_what_was_freed_unseen);
    RUN(should_drain_a_context_but_not_its_successor);
    RUN(should_cost_the_same_with_many_live);
    RUN(should_stand_many_threads);
    RUN(should_forget_everything);
    return 0;
}
