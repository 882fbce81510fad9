/* The table of allocations finds what was put in, follows blocks, and costs the same however much it holds. */
#include "check.h"

#include <pthread.h>
#include <time.h>

#include "ledger/allocations.h"

#define LIVE 100000
#define CONTEXT(number) ((CUcontext)(uintptr_t)(0x1000 * (number)))

static sl_allocation_t whole(uint64_t number) {
    return (sl_allocation_t){.address = (number + 1) * SL_BLOCK_BYTES, .bytes = number, .kind = SL_WHOLE, .gpu = 1,
                             .context = CONTEXT(1 + number % 2)};
}

static sl_allocation_t small(uint64_t number) {
    return (sl_allocation_t){.address = (1ull << 40) + number * 512, .bytes = 100, .kind = SL_SMALL, .context = CONTEXT(3)};
}

static int stale_entries;

static void fail_stale(const sl_allocation_t *allocation, bool last_in_block) {
    CHECK(false, "%llx was there already (%d)", (unsigned long long)allocation->address, last_in_block);
}

static void count_stale(const sl_allocation_t *allocation, bool last_in_block) {
    stale_entries += allocation->bytes == 100 && last_in_block;
}

static void should_take_out_what_was_freed_unseen(void) {
    sl_allocation_t first = small(7), found;
    CHECK(sl_allocations_add(first, false, fail_stale) == SL_ADDED);
    first.bytes = 200;
    CHECK(sl_allocations_add(first, false, count_stale) == SL_ADDED && stale_entries == 1);
    CHECK(sl_allocations_take(first.address, &found) && found.bytes == 200 && sl_allocations_leave_block(&found));
}

static void should_find_what_was_added(void) {
    sl_allocation_t found;
    for (uint64_t i = 0; i < LIVE; i++)
        CHECK(sl_allocations_add(whole(i), false, fail_stale) == SL_ADDED);
    for (uint64_t i = 0; i < LIVE; i++) {
        uint64_t number = i * 7919 % LIVE;
        CHECK(sl_allocations_take((number + 1) * SL_BLOCK_BYTES, &found) && found.bytes == number && found.gpu == 1);
        CHECK(!sl_allocations_take((number + 1) * SL_BLOCK_BYTES, &found), "taken twice");
        if (i % 3 == 0)
            sl_allocations_restore(&found);
    }
    for (uint64_t i = 0; i < LIVE; i++)
        CHECK(sl_allocations_take((i * 7919 % LIVE + 1) * SL_BLOCK_BYTES, &found) == (i % 3 == 0));
    CHECK(!sl_allocations_take(0x1234, &found));
}

static void should_say_when_a_block_comes_and_goes(void) {
    sl_allocation_t first = small(0), second = small(1), next = small(SL_BLOCK_BYTES / 512), found;
    CHECK(sl_allocations_add(first, true, fail_stale) == SL_NOT_ADDED && !sl_allocations_have_room(0, 1));
    CHECK(sl_allocations_add(first, false, fail_stale) == SL_ADDED && sl_allocations_add(second, true, fail_stale) == SL_ADDED_TO_BLOCK);
    CHECK(sl_allocations_have_room(0, SL_BLOCK_BYTES - 1024) && !sl_allocations_have_room(0, SL_BLOCK_BYTES - 1023));
    CHECK(sl_allocations_add(next, false, fail_stale) == SL_ADDED, "a new block");
    CHECK(!sl_allocations_take(first.address | 1, &found), "a block was taken for an allocation");
    CHECK(sl_allocations_take(first.address, &found) && !sl_allocations_leave_block(&found));
    CHECK(sl_allocations_take(second.address, &found) && sl_allocations_leave_block(&found));
    CHECK(sl_allocations_take(next.address, &found) && sl_allocations_leave_block(&found));
    CHECK(!sl_allocations_have_room(0, 1));
}

static int taken, blocks_gone;

static void count_taken(const sl_allocation_t *allocation, bool last_in_block) {
    taken++;
    blocks_gone += last_in_block;
    CHECK(allocation->context == CONTEXT(1) || allocation->context == CONTEXT(3));
}

static void should_drain_a_context_but_not_its_successor(void) {
    sl_allocation_t found;
    for (uint64_t i = 0; i < LIVE; i++) {
        sl_allocations_add(whole(i), false, fail_stale);
        sl_allocations_add(small(i), false, fail_stale);
    }
    uint32_t teardown = sl_allocations_begin_teardown();
    sl_allocation_t later = whole(LIVE);
    later.context = CONTEXT(1);
    sl_allocations_add(later, false, fail_stale);
    sl_allocations_drain(CONTEXT(1), teardown, count_taken);
    CHECK(taken == LIVE / 2 && blocks_gone == 0, "%d", taken);
    CHECK(sl_allocations_take(later.address, &found), "the later context lost its memory");
    sl_allocations_drain(CONTEXT(3), teardown, count_taken);
    CHECK(taken == LIVE / 2 + LIVE && blocks_gone == (LIVE * 512 + SL_BLOCK_BYTES - 1) / SL_BLOCK_BYTES, "%d", blocks_gone);
    for (uint64_t i = 0; i < LIVE; i++)
        CHECK(sl_allocations_take(whole(i).address, &found) == (i % 2 == 1));
}

static double nanos_per_pair(void) {
    sl_allocation_t found;
    double best = 1e9;
    for (int round = 0; round < 7; round++) {
        struct timespec start, end;
        clock_gettime(CLOCK_MONOTONIC, &start);
        for (uint64_t i = 0; i < 20000; i++) {
            sl_allocation_t one = whole((1u << 20) + i % 64);
            sl_allocations_add(one, false, fail_stale);
            sl_allocations_take(one.address, &found);
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
        sl_allocations_add(whole(i), false, fail_stale);
    double many = nanos_per_pair();
    printf("  add and take: %.0f ns with none, %.0f ns with %d live\n", none, many, LIVE);
    CHECK(many < none * 3 + 100);
}

static void *churn(void *seed) {
    sl_allocation_t found;
    for (uint64_t i = 0; i < 50000; i++) {
        sl_allocation_t one = small((uint64_t)(uintptr_t)seed * 100000 + i % 5000);
        sl_allocations_add(one, false, fail_stale);
        CHECK(sl_allocations_take(one.address, &found));
        sl_allocations_leave_block(&found);
    }
    return NULL;
}

static void should_stand_many_threads(void) {
    pthread_t threads[4];
    for (uintptr_t i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, churn, (void *)i);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    CHECK(!sl_allocations_have_room(0, 1), "a block is left");
}

static void should_forget_everything(void) {
    sl_allocation_t found;
    sl_allocations_forget();
    CHECK(!sl_allocations_take(whole(5).address, &found) && sl_allocations_add(whole(5), false, fail_stale) == SL_ADDED);
}

int main(void) {
    RUN(should_find_what_was_added);
    RUN(should_take_out_what_was_freed_unseen);
    RUN(should_say_when_a_block_comes_and_goes);
    RUN(should_drain_a_context_but_not_its_successor);
    RUN(should_cost_the_same_with_many_live);
    RUN(should_stand_many_threads);
    RUN(should_forget_everything);
    return 0;
}
