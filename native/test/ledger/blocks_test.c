/* A block of small allocations is charged once, to the GPU that it lies on, in whatever order threads and contexts go. */
#include "check.h"

#include <pthread.h>

#include "ledger/blocks.h"
#include "ledger/ledger.h"
#include "ledger/places.h"
#include "tenant/gpu.h"
#include "tenant/accounts.h"
#include "tenant/tenant.h"

#define CONTEXT(number) ((CUcontext)(uintptr_t)(0x1000 * (number)))
#define BASE (1ull << 40)

static sl_allocation_t occupant(unsigned gpu, uint64_t offset, uint64_t bytes) {
    return (sl_allocation_t){.address = BASE + offset, .bytes = bytes, .context = CONTEXT(gpu + 1), .gpu = (uint8_t)gpu};
}

static void attach(void) {
    CHECK(sl_tenant_attach() == SL_TENANT_ATTACHED);
    for (unsigned gpu = 0; gpu < 2; gpu++) {
        sl_tenant.region.gpus[gpu].granularity_bytes = SL_BLOCK_BYTES;
        sl_tenant.region.gpus[gpu].owner = 1;
        sl_gpu_open(gpu);
    }
}

static sl_block_t enter(const sl_allocation_t *occupant, bool may_make) {
    int replaced;
    sl_place_lock(occupant->address);
    sl_block_t entered = sl_blocks_enter(occupant, may_make, &replaced);
    sl_place_unlock(occupant->address);
    if (replaced >= 0)
        sl_ledger_refund((unsigned)replaced, SL_USE_LINEAR, SL_BLOCK_BYTES);
    return entered;
}

static bool leave(const sl_allocation_t *occupant) {
    sl_place_lock(occupant->address);
    bool last = sl_blocks_leave(occupant);
    sl_place_unlock(occupant->address);
    return last;
}

static void should_say_when_a_block_comes_and_goes(void) {
    sl_allocation_t first = occupant(0, 0, 100), second = occupant(0, 512, 100), next = occupant(0, SL_BLOCK_BYTES, 100);
    CHECK(enter(&first, false) == SL_BLOCK_NONE && !sl_blocks_have_room(0, 1));
    CHECK(enter(&first, true) == SL_BLOCK_NEW && enter(&second, false) == SL_BLOCK_SHARED);
    CHECK(sl_blocks_have_room(0, SL_BLOCK_BYTES - 1024) && !sl_blocks_have_room(0, SL_BLOCK_BYTES - 1023));
    CHECK(enter(&next, true) == SL_BLOCK_NEW, "a new block");
    CHECK(!leave(&first) && leave(&second) && leave(&next));
    CHECK(!sl_blocks_have_room(0, 1), "a block is left");
}

/* A thread has left the block, and the driver has freed it and given its address to another GPU. */
static void should_give_a_freed_block_to_another_gpu(void) {
    sl_allocation_t here = occupant(0, 0, 100), there = occupant(1, 0, 100);
    CHECK(enter(&here, true) == SL_BLOCK_NEW);
    CHECK(leave(&here));
    CHECK(enter(&there, true) == SL_BLOCK_NEW, "its block is not charged on its own GPU");
    CHECK(leave(&there));
}

/* A context was destroyed, and its allocations are still in the table when another one gets the address. */
static void should_refund_a_block_that_went_with_its_context(void) {
    sl_allocation_t old = occupant(0, 0, 100), old_too = occupant(0, 512, 100), new = occupant(1, 0, 100);
    sl_ledger_charge(0, SL_USE_LINEAR, SL_BLOCK_BYTES);
    CHECK(enter(&old, true) == SL_BLOCK_NEW && enter(&old_too, true) == SL_BLOCK_SHARED);
    CHECK(enter(&new, true) == SL_BLOCK_NEW);
    CHECK(sl_accounts_used(0) == 0, "the block of the destroyed context is still charged");
    CHECK(!leave(&old) && !leave(&old_too), "refunded twice");
    CHECK(leave(&new) && !sl_blocks_have_room(0, 1) && !sl_blocks_have_room(1, 1));
}

static _Atomic int64_t charged[2];

/* Does what linear.c does, with addresses that move between GPUs. */
static void *churn(void *number) {
    unsigned seed = (unsigned)(uintptr_t)number + 1;
    for (int i = 0; i < 100000; i++) {
        unsigned gpu = (unsigned)rand_r(&seed) % 2;
        sl_allocation_t one = occupant(gpu, (uint64_t)(uintptr_t)number * SL_BLOCK_BYTES, 1u << 20);
        charged[gpu] += enter(&one, true) == SL_BLOCK_NEW;
        charged[gpu] -= leave(&one);
    }
    return NULL;
}

static void should_stand_many_threads(void) {
    pthread_t threads[4];
    for (uintptr_t i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, churn, (void *)i);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    CHECK(charged[0] == 0 && charged[1] == 0, "%lld and %lld", (long long)charged[0], (long long)charged[1]);
    CHECK(!sl_blocks_have_room(0, 1) && !sl_blocks_have_room(1, 1), "a block is left");
}

int main(void) {
    use_test_folder();
    setenv("SLUICE_TENANT", "blocks", 1);
    setenv("SLUICE_MEMORY", "1g", 1);
    attach();
    RUN(should_say_when_a_block_comes_and_goes);
    RUN(should_give_a_freed_block_to_another_gpu);
    RUN(should_refund_a_block_that_went_with_its_context);
    RUN(should_stand_many_threads);
    return 0;
}
