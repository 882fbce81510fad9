/* Memory leaves the GPU and comes back with the same contents, addresses, access and numbers of handles. Whatever call of the driver fails,
 * the contents are complete on one side, and the ledger has what the driver has. */
#include "on_sim.h"

#include <sys/mman.h>

#include "os/host.h"
#include "pause/helpers.h"
#include "pause/mover.h"
#include "pause/reservoir.h"
#include "pause/staging.h"
#include "pause/telling.h"

enum { DEVICE = 1, READ = 1, READ_WRITE = 3, MOST = 24, PLACES = 3 };

/* What the program thinks it has. */
typedef struct {
    CUmemGenericAllocationHandle handle;
    uint64_t bytes;
    uint64_t seed;
    unsigned references;
    int device;
    CUdeviceptr places[PLACES]; /* 0: not mapped */
    unsigned char access[PLACES][2];
} thing_t;

/* Replaces the attendant's function. */
void __wrap_sl_context_making(void);
void __wrap_sl_context_making(void) {}

static thing_t things[MOST];
static uint64_t random_state = 12345;

static uint64_t next_random(void) {
    random_state = random_state * 6364136223846793005ull + 1442695040888963407ull;
    return random_state >> 33;
}

static CUmemAllocationProp prop_of(int device) {
    return (CUmemAllocationProp){.type = 1, .location = {DEVICE, device}};
}

static bool is_mapped(const thing_t *thing) {
    return thing->places[0] || thing->places[1] || thing->places[2];
}

/* The simulated device's memory lies at its address in this process. */
static void fill(const thing_t *thing, CUdeviceptr at) {
    uint64_t *words = (uint64_t *)at;
    for (uint64_t i = 0; i < thing->bytes / 8; i += 512)
        words[i] = thing->seed ^ i * 0x9e3779b97f4a7c15ull;
}

static void check_contents(const thing_t *thing, CUdeviceptr at) {
    const uint64_t *words = (const uint64_t *)at;
    for (uint64_t i = 0; i < thing->bytes / 8; i += 512)
        CHECK(words[i] == (thing->seed ^ i * 0x9e3779b97f4a7c15ull), "handle %llx, byte %llu of %llu", (unsigned long long)thing->handle,
              (unsigned long long)i * 8, (unsigned long long)thing->bytes);
}

static void map(thing_t *thing, unsigned place, unsigned own, unsigned other) {
    CUdeviceptr *address = &thing->places[place];
    CHECK(real.cuMemAddressReserve(address, thing->bytes, 0, 0, 0) == 0);
    CHECK(hook_cuMemMap(*address, thing->bytes, 0, thing->handle, 0) == 0);
    CUmemAccessDesc access[2] = {{{DEVICE, thing->device}, (int)own}, {{DEVICE, !thing->device}, (int)other}};
    if (own || other)
        CHECK(real.cuMemSetAccess(*address, thing->bytes, access, 2) == 0);
    thing->access[place][thing->device] = (unsigned char)own;
    thing->access[place][!thing->device] = (unsigned char)other;
}

static void unmap(thing_t *thing, unsigned place) {
    CHECK(hook_cuMemUnmap(thing->places[place], thing->bytes) == 0);
    CHECK(real.cuMemAddressFree(thing->places[place], thing->bytes) == 0);
    thing->places[place] = 0;
}

static thing_t *make(int device, uint64_t bytes) {
    thing_t *thing = things;
    while (thing->bytes)
        thing++;
    CHECK(thing < things + MOST);
    CUmemAllocationProp prop = prop_of(device);
    *thing = (thing_t){.bytes = bytes, .seed = next_random(), .references = 1, .device = device};
    CHECK(hook_cuMemCreate(&thing->handle, bytes, &prop, 0) == 0);
    for (const thing_t *other = things; other < things + MOST; other++)
        CHECK(other == thing || !other->bytes || !other->references || other->handle != thing->handle, "two have one number");
    map(thing, 0, READ_WRITE, 0);
    fill(thing, thing->places[0]);
    return thing;
}

static void end(thing_t *thing) {
    for (unsigned place = 0; place < PLACES; place++)
        if (thing->places[place])
            unmap(thing, place);
    for (; thing->references; thing->references--)
        CHECK(hook_cuMemRelease(thing->handle) == 0);
    thing->bytes = 0;
}

static void end_all(void) {
    for (thing_t *thing = things; thing < things + MOST; thing++)
        if (thing->bytes)
            end(thing);
}

static uint64_t bytes_on(int device) {
    uint64_t sum = 0;
    for (const thing_t *thing = things; thing < things + MOST; thing++)
        sum += thing->device == device ? thing->bytes : 0;
    return sum;
}

static uint64_t used_before[2]; /* what the driver has without any thing */

static uint64_t used_on(int device) {
    CUcontext context;
    size_t left, total;
    CHECK(real.cuDevicePrimaryCtxRetain(&context, device) == 0 && true_cuCtxPushCurrent_v2(context) == 0);
    CHECK(real.cuMemGetInfo_v2(&left, &total) == 0 && real.cuCtxPopCurrent_v2(&context) == 0);
    CHECK(real.cuDevicePrimaryCtxRelease_v2(device) == 0);
    return total - left;
}

static void check_ledger(bool there) {
    for (int device = 0; device < 2; device++) {
        unsigned gpu = (unsigned)sl_gpu_find(device);
        uint64_t bytes = there ? bytes_on(device) : 0, charged = account(gpu)->physical_bytes;
        CHECK(charged == bytes && !account(gpu)->in_flight_bytes, "device %d: %llu charged, not %llu", device, (unsigned long long)charged,
              (unsigned long long)bytes);
        CHECK(used_on(device) - used_before[device] == bytes, "device %d: the driver has %lld, not %llu", device,
              (long long)(used_on(device) - used_before[device]), (unsigned long long)bytes);
    }
}

static void check_place(const thing_t *thing, unsigned place) {
    for (int device = 0; device < 2; device++) {
        CUmemLocation location = {DEVICE, device};
        unsigned long long flags = 77;
        CHECK(real.cuMemGetAccess(&flags, &location, thing->places[place]) == 0 && flags == thing->access[place][device]);
    }
    check_contents(thing, thing->places[place]);
    CUmemGenericAllocationHandle again;
    CHECK(hook_cuMemRetainAllocationHandle(&again, (void *)thing->places[place]) == 0);
    CHECK(!thing->references || again == thing->handle, "%llx, not %llx", (unsigned long long)again, (unsigned long long)thing->handle);
    CHECK(hook_cuMemRelease(again) == 0);
}

/* Checks that everything is as the program left it. */
static void check_all(void) {
    for (thing_t *thing = things; thing < things + MOST; thing++) {
        for (unsigned place = 0; thing->bytes && place < PLACES; place++)
            if (thing->places[place])
                check_place(thing, place);
        CUmemAllocationProp prop;
        if (thing->bytes && thing->references)
            CHECK(hook_cuMemGetAllocationPropertiesFromHandle(&prop, thing->handle) == 0 && prop.location.id == thing->device);
        if (thing->bytes && !is_mapped(thing)) {
            map(thing, 1, READ_WRITE, 0);
            check_contents(thing, thing->places[1]);
            unmap(thing, 1);
        }
    }
    check_ledger(true);
    CHECK(sl_telling_record()->away_bytes == 0);
}

static sl_reason_t reason;
static bool vacates;
static uint64_t registered; /* bytes */

static CUresult count_register(void *start, size_t bytes, unsigned flags) {
    registered += bytes;
    return faulty_cuMemHostRegister_v2(start, bytes, flags);
}

static void move_out(void) {
    reason.text[0] = 0;
    sl_mover_result_t result = sl_mover_out(vacates, &reason);
    CHECK(result == SL_MOVER_DONE, "%d %s", result, reason.text);
    if (vacates)
        sl_mover_unregister();
    check_ledger(false);
}

static void move_back(void) {
    sl_mover_result_t result = sl_mover_back(&reason);
    CHECK(result == SL_MOVER_DONE, "%d %s", result, reason.text);
}

static void should_move_one_piece_and_back(void) {
    thing_t *thing = make(0, 4 * MIB);
    CHECK(sl_mover_bytes() == 4 * MIB);
    move_out();
    CHECK(sl_telling_record()->away_bytes == 4 * MIB && sl_telling_record()->reservoir_bytes == 4 * MIB);
    CHECK(sl_telling_record()->out_bytes == 4 * MIB && sl_telling_record()->out_nanos);
    move_back();
    check_all();
    CHECK(sl_telling_record()->reservoir_bytes == 0 && sl_telling_record()->back_bytes == 4 * MIB);
    end(thing);
    check_ledger(true);
}

/* All kinds of handles: several mappings, none that its own GPU can write, none at all, several references, no handle. */
static void make_all_kinds(void) {
    make(0, 2 * MIB);
    thing_t *twice = make(1, 4 * MIB), *unmapped = make(0, 2 * MIB), *many = make(0, 2 * MIB), *read_only = make(0, 2 * MIB),
            *without = make(1, 2 * MIB), *bare = make(0, 2 * MIB), *both = make(0, 2 * MIB);
    map(twice, 1, 0, READ);
    map(twice, 2, READ, READ_WRITE);
    unmap(unmapped, 0);
    CUmemGenericAllocationHandle again;
    for (; many->references < 4; many->references++)
        CHECK(hook_cuMemRetainAllocationHandle(&again, (void *)many->places[0]) == 0 && again == many->handle);
    map(read_only, 1, READ, 0);
    unmap(read_only, 0);
    map(both, 1, READ_WRITE, READ_WRITE);
    map(bare, 1, 0, READ);
    unmap(bare, 0);
    thing_t *list[] = {without, bare, both};
    for (unsigned i = 0; i < 3; i++)
        for (; list[i]->references; list[i]->references--)
            CHECK(hook_cuMemRelease(list[i]->handle) == 0);
}

static void should_keep_everything_as_it_was(void) {
    make_all_kinds();
    check_all();
    for (int i = 0; i < 4; i++) {
        move_out();
        move_back();
        check_all();
    }
    end_all();
    check_ledger(true);
}

static void should_copy_across_blocks(void) {
    make(0, 2 * MIB);
    make(0, SL_RESERVOIR_BLOCK * 2 + 4 * MIB);
    make(1, SL_RESERVOIR_BLOCK);
    move_out();
    move_back();
    check_all();
    end_all();
}

/* The driver gives numbers out again that the program still has. */
static void should_keep_numbers_apart(void) {
    for (int round = 0; round < 200; round++) {
        thing_t *thing = &things[next_random() % MOST];
        unsigned place = 1 + next_random() % 2;
        if (!thing->bytes)
            make((int)(next_random() % 2), (1 + next_random() % 3) * 2 * MIB);
        else if (next_random() % 3 == 0)
            end(thing);
        else if (thing->places[place])
            unmap(thing, place);
        else if (thing->references)
            map(thing, place, next_random() % 2 ? READ_WRITE : 0, next_random() % 2 ? READ : 0);
        if (round % 5 == 0) {
            move_out();
            move_back();
            check_all();
        }
    }
    end_all();
    check_ledger(true);
}

static void should_leave_what_others_may_use(void) {
    CUmemAllocationProp prop = prop_of(0);
    CUmemGenericAllocationHandle exported, other;
    prop.requestedHandleTypes = 1;
    CHECK(hook_cuMemCreate(&exported, 2 * MIB, &prop, 0) == 0 && hook_cuMemCreate(&other, 2 * MIB, &prop, 0) == 0);
    int file;
    CHECK(hook_cuMemExportToShareableHandle(&file, exported, 1, 0) == 0);
    CHECK(sl_mover_bytes() == 2 * MIB);
    CHECK(sl_mover_out(false, &reason) == SL_MOVER_DONE);
    CHECK(account((unsigned)sl_gpu_find(0))->physical_bytes == 2 * MIB && sl_telling_record()->staying_bytes >= 2 * MIB);
    CHECK(sl_mover_back(&reason) == SL_MOVER_DONE);
    CHECK(hook_cuMemRelease(exported) == 0 && hook_cuMemRelease(other) == 0);
    close(file);
    check_ledger(true);
}

/* Each call of the driver fails: first alone, then together with all that follow. */
static void should_survive_faults_on_the_way_out(void) {
    unsigned seen[4] = {0};
    for (unsigned many = 0; many < 2; many++) {
        for (unsigned at = 1, calls = at; at <= calls; at += 1 + many * 2) {
            make_all_kinds();
            arm(at, many ? 1u << 30 : 1);
            sl_mover_result_t result = sl_mover_out(vacates, &reason);
            calls = disarm();
            seen[result]++;
            CHECK(result == SL_MOVER_DONE || reason.text[0]);
            if (result == SL_MOVER_BROKEN || result == SL_MOVER_DONE)
                move_back();
            else
                CHECK(result == SL_MOVER_REFUSED);
            sl_mover_bytes(); /* now the driver takes back what it refused before */
            check_all();
            end_all();
            check_ledger(true);
            CHECK(sl_reservoir_bytes() == 0);
        }
    }
    sl_telling_record()->reservoir_bytes = 0; /* without what was abandoned */
    printf("  %u moved, %u stayed, %u broken\n", seen[SL_MOVER_DONE], seen[SL_MOVER_REFUSED], seen[SL_MOVER_BROKEN]);
}

static void should_survive_faults_on_the_way_back(void) {
    unsigned seen[4] = {0};
    for (unsigned many = 0; many < 2; many++) {
        for (unsigned at = 1, calls = at; at <= calls; at += 1 + many * 2) {
            make_all_kinds();
            move_out();
            arm(at, many ? 1u << 30 : 1);
            sl_mover_result_t result = sl_mover_back(&reason);
            calls = disarm();
            seen[result]++;
            if (getenv("MOVER_TRACE"))
                fprintf(stderr, "back: call %u of %u fails%s: %d %s\n", at, calls, many ? " and all that follow" : "", result, reason.text);
            if (result != SL_MOVER_DONE) {
                CHECK(result != SL_MOVER_REFUSED && sl_telling_record()->away_bytes == bytes_on(0) + bytes_on(1));
                if (!many)
                    check_ledger(false); /* one fault: nothing stays half way */
                move_back();
            }
            sl_mover_bytes();
            check_all();
            end_all();
            check_ledger(true);
        }
    }
    printf("  %u moved, %u no room, %u broken\n", seen[SL_MOVER_DONE], seen[SL_MOVER_NO_ROOM], seen[SL_MOVER_BROKEN]);
}

static sl_region_limits_t *limits(void) {
    static sl_region_limits_t *writable;
    if (!writable) {
        uintptr_t page = (uintptr_t)sl_tenant.region.limits & ~4095ul;
        CHECK(mprotect((void *)page, 4096, PROT_READ | PROT_WRITE) == 0);
        writable = (sl_region_limits_t *)sl_tenant.region.limits;
    }
    return writable;
}

static void should_wait_for_the_quota(void) {
    make(0, 64 * MIB);
    make(0, 64 * MIB);
    move_out();
    uint64_t quota = limits()->memory_bytes[0];
    limits()->memory_bytes[0] = account((unsigned)sl_gpu_find(0))->charged_bytes + 100 * MIB;
    CHECK(sl_mover_back(&reason) == SL_MOVER_NO_ROOM);
    CHECK(strstr(reason.text, "needs 128.0 MiB on GPU 0; its quota leaves 100.0 MiB"), "%s", reason.text);
    check_ledger(false);
    limits()->memory_bytes[0] = quota;
    move_back();
    check_all();
    end_all();
}

static unsigned creates;

static CUresult count_create(CUmemGenericAllocationHandle *handle, size_t bytes, const CUmemAllocationProp *prop, unsigned long long flags) {
    creates++;
    return faulty_cuMemCreate(handle, bytes, prop, flags);
}

/* Memory outside the quota, as if another process had it. Nothing is taken, not even for a moment: it may be promised to another tenant. */
static void should_wait_for_the_gpu(void) {
    make(0, 64 * MIB);
    make(0, 64 * MIB);
    move_out();
    CUmemAllocationProp prop = prop_of(0);
    CUmemGenericAllocationHandle other;
    size_t left, total;
    CHECK(real.cuMemGetInfo_v2(&left, &total) == 0);
    CHECK(true_cuMemCreate(&other, (left - 100 * MIB) & ~(2 * MIB - 1), &prop, 0) == 0);
    real.cuMemCreate = count_create;
    creates = 0;
    CHECK(sl_mover_back(&reason) == SL_MOVER_NO_ROOM);
    CHECK(strstr(reason.text, "needs 128.0 MiB on GPU 0"), "%s", reason.text);
    printf("  %s\n", reason.text);
    CHECK(sl_mover_back(&reason) == SL_MOVER_NO_ROOM);
    CHECK(true_cuMemRelease(other) == 0 && creates == 0);
    move_back();
    CHECK(creates == 2);
    real.cuMemCreate = faulty_cuMemCreate;
    check_all();
    end_all();
}

static CUresult fail_to_copy(CUdeviceptr to, const void *from, size_t bytes, CUstream stream) {
    (void)to, (void)from, (void)bytes, (void)stream;
    return FAULT;
}

static CUresult fail_to_unmap(CUdeviceptr address, size_t bytes) {
    (void)address, (void)bytes;
    return FAULT;
}

/* After two faults the GPU still has memory for the pieces. So a later attempt needs no room. */
static void should_not_wait_for_room_that_it_has(void) {
    make(0, 64 * MIB);
    make(0, 64 * MIB);
    move_out();
    real.cuMemcpyHtoDAsync_v2 = fail_to_copy;
    real.cuMemUnmap = fail_to_unmap;
    CHECK(sl_mover_back(&reason) == SL_MOVER_BROKEN);
    real.cuMemcpyHtoDAsync_v2 = faulty_cuMemcpyHtoDAsync_v2;
    real.cuMemUnmap = faulty_cuMemUnmap;
    CUmemAllocationProp prop = prop_of(0);
    CUmemGenericAllocationHandle other;
    size_t left, total;
    CHECK(real.cuMemGetInfo_v2(&left, &total) == 0);
    CHECK(true_cuMemCreate(&other, (left - 20 * MIB) & ~(2 * MIB - 1), &prop, 0) == 0);
    move_back();
    CHECK(true_cuMemRelease(other) == 0);
    check_all();
    end_all();
}

static void should_refuse_what_the_host_cannot_hold(void) {
    make(0, 128 * MIB);
    limits()->reservoir_bytes = 100 * MIB;
    CHECK(sl_mover_out(false, &reason) == SL_MOVER_REFUSED && strstr(reason.text, "needs 128.0 MiB more of host memory, the limit leaves 100.0 MiB"), "%s", reason.text);
    check_all();
    CHECK(sl_telling_record()->reservoir_bytes == 0);
    limits()->reservoir_bytes = 0;
    move_out();
    move_back();
    check_all();
    end_all();
}

static void should_keep_what_was_prepared(void) {
    make(0, 128 * MIB);
    limits()->prepared_bytes = 64 * MIB;
    sl_mover_prepare(64 * MIB);
    CHECK(sl_telling_record()->reservoir_bytes == 64 * MIB);
    move_out();
    CHECK(sl_telling_record()->reservoir_bytes == 128 * MIB);
    sl_mover_unregister();
    move_back();
    check_all();
    CHECK(sl_telling_record()->reservoir_bytes == 64 * MIB);
    limits()->prepared_bytes = 0;
    sl_mover_prepare(0);
    CHECK(sl_telling_record()->reservoir_bytes == 0);
    end_all();
}

/* No piece, so no context of one; what was prepared is registered nevertheless. */
static void should_unregister_without_a_piece(void) {
    unsigned flags;
    CUcontext popped;
    limits()->prepared_bytes = 2 * MIB;
    CHECK(sl_mover_prepare(2 * MIB));
    char *block = sl_reservoir_at(0);
    CHECK(real.cuMemHostGetFlags(&flags, block) == 0);
    CHECK(real.cuCtxPopCurrent_v2(&popped) == 0); /* as in the attendant */
    move_out();
    limits()->prepared_bytes = 0;
    move_back();
    CHECK(true_cuCtxPushCurrent_v2(popped) == 0);
    CHECK(sl_reservoir_bytes() == 0 && real.cuMemHostGetFlags(&flags, block) != 0);
}

/* The way back of a vacated job, which would otherwise register all of its host memory again. */
static void should_not_register_what_goes_through_staging_memory(void) {
    uint64_t bytes = SL_RESERVOIR_BLOCK * 4 + 6 * MIB, ring = (SL_HELPERS_MOST + 1 + SL_TRACK_FLIGHT) * SL_STAGING_PIECE;
    make(0, bytes - 4 * MIB);
    make(1, 4 * MIB);
    registered = 0;
    move_out();
    uint64_t out = registered;
    CHECK(out && out <= ring);
    sl_telling_step(SL_REGION_STEP_COPY_BACK, bytes);
    move_back();
    CHECK(registered == 2 * out && sl_telling_record()->moved_bytes == bytes);
    check_all();
    vacates = false; /* a release registers: its way back is then as fast */
    registered = 0;
    move_out();
    CHECK(registered == sl_reservoir_bytes());
    move_back();
    CHECK(registered == bytes);
    check_all();
    vacates = true;
    end_all();
}

static CUresult fail_to_register_once(void *start, size_t bytes, unsigned flags) {
    (void)start, (void)bytes, (void)flags;
    real.cuMemHostRegister_v2 = count_register;
    return FAULT;
}

static void should_register_where_there_is_no_staging_memory(void) {
    make(0, SL_RESERVOIR_BLOCK * 2);
    real.cuMemHostRegister_v2 = fail_to_register_once;
    registered = 0;
    move_out();
    CHECK(registered == SL_RESERVOIR_BLOCK * 2);
    real.cuMemHostRegister_v2 = fail_to_register_once;
    registered = 0;
    move_back();
    CHECK(registered == SL_RESERVOIR_BLOCK * 2);
    check_all();
    end_all();
}

/* A part is registered and copied without staging memory; after the way back it is not registered, until it is prepared again. */
static void should_prepare_again_after_a_vacate(void) {
    uint64_t block = SL_RESERVOIR_BLOCK;
    make(0, 5 * block);
    limits()->prepared_bytes = 2 * block;
    CHECK(sl_mover_prepare(2 * block));
    CHECK(sl_reservoir_unregistered(5 * block) == 0);
    move_out();
    CHECK(sl_reservoir_unregistered(5 * block) == 5 * block);
    move_back();
    check_all();
    CHECK(sl_reservoir_bytes() == 2 * block && sl_reservoir_unregistered(2 * block) == 2 * block);
    CHECK(sl_mover_prepare(block) && sl_reservoir_bytes() == 2 * block && sl_reservoir_unregistered(2 * block) == block);
    CHECK(sl_mover_prepare(2 * block) && sl_reservoir_unregistered(2 * block) == 0);
    limits()->prepared_bytes = 0;
    CHECK(sl_mover_prepare(0) && sl_reservoir_bytes() == 0);
    end_all();
}

static void should_leave_the_context_of_the_thread(void) {
    CUcontext before, after;
    CHECK(real.cuCtxGetCurrent(&before) == 0);
    make(1, 2 * MIB);
    move_out();
    move_back();
    CHECK(real.cuCtxGetCurrent(&after) == 0 && before == after);
    end_all();
}

/* Host memory that is not registered goes through staging memory. */
static void run_staged(void) {
    real.cuMemHostRegister_v2 = count_register;
    sl_staging_rule = (sl_staging_rule_t){.least_bytes = 1, .least_processors = 1};
    vacates = true;
    RUN(should_not_register_what_goes_through_staging_memory);
    RUN(should_register_where_there_is_no_staging_memory);
    RUN(should_prepare_again_after_a_vacate);
    RUN(should_keep_everything_as_it_was);
    RUN(should_copy_across_blocks);
    RUN(should_survive_faults_on_the_way_out);
    RUN(should_survive_faults_on_the_way_back);
    RUN(should_refuse_what_the_host_cannot_hold);
}

int main(int count, char **words) {
    use_sim("mover", "768m");
    make_faulty();
    int can;
    if (real.cuDeviceCanAccessPeer(&can, 0, 1) == 0 && !can)
        return printf("the simulated GPUs are no peers\n"), 1;
    for (int device = 0; device < 2; device++)
        used_before[device] = used_on(device);
    if (count > 1 && strcmp(words[1], "staged") == 0)
        return run_staged(), 0;
    RUN(should_move_one_piece_and_back);
    RUN(should_keep_everything_as_it_was);
    RUN(should_copy_across_blocks);
    RUN(should_keep_numbers_apart);
    RUN(should_leave_what_others_may_use);
    RUN(should_survive_faults_on_the_way_out);
    RUN(should_survive_faults_on_the_way_back);
    RUN(should_wait_for_the_quota);
    RUN(should_wait_for_the_gpu);
    RUN(should_not_wait_for_room_that_it_has);
    RUN(should_refuse_what_the_host_cannot_hold);
    RUN(should_keep_what_was_prepared);
    RUN(should_unregister_without_a_piece);
    RUN(should_leave_the_context_of_the_thread);
    return 0;
}
