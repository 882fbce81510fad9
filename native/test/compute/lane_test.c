/* A lane ends when the driver destroys its context, and goes on if the context lives on. The fake driver has two contexts and notices when
 * an event of a dead one is used. */
#include "check.h"

#include "compute/gate.h"
#include "compute/lane.h"
#include "hooks.h"
#include "os/os.h"
#include "real.h"
#include "tenant/tenant.h"

#define MIB (1ull << 20)
#define STREAM (CUstream)(uintptr_t)0x5000

#define GONE (CUcontext)(uintptr_t)0xdead

static CUcontext const contexts[2] = {(CUcontext)(uintptr_t)0x7000, (CUcontext)(uintptr_t)0x8000};
static struct {
    CUcontext current, pushed;
    bool dead[2];
    CUcontext of_event[256];
    unsigned events, used_dead, open_at_destroy;
    CUresult destroy_answer, record_answer;
    unsigned recorded, recorded_own; /* events on streams by number, and on the default stream of the thread */
    unsigned launched;
} fake;

static CUresult get_uuid(CUuuid *uuid, CUdevice device) {
    memset(uuid, 7, sizeof *uuid);
    return device == 0 ? 0 : 101;
}
static CUresult get_count(int *count) {
    *count = 1;
    return 0;
}
static CUresult total_mem(size_t *bytes, CUdevice device) {
    (void)device;
    *bytes = 1000 * MIB;
    return 0;
}
static CUresult get_device(CUdevice *device) {
    *device = 0;
    return 0;
}
static CUresult get_current(CUcontext *context) {
    *context = fake.current;
    return 0;
}
static CUresult push(CUcontext context) {
    fake.pushed = fake.current;
    fake.current = context;
    return 0;
}
static CUresult pop(CUcontext *context) {
    *context = fake.current;
    fake.current = fake.pushed;
    return 0;
}
static void use(CUcontext context) {
    fake.used_dead += context == GONE || (context == contexts[0] && fake.dead[0]) || (context == contexts[1] && fake.dead[1]);
}
static CUresult create_event(CUevent *event, unsigned flags) {
    (void)flags;
    use(fake.current);
    fake.of_event[fake.events] = fake.current;
    *event = (CUevent)(uintptr_t)(++fake.events);
    return 0;
}
static CUcontext context_of(CUevent event) {
    return fake.of_event[(uintptr_t)event - 1];
}
static CUresult record(CUevent event, CUstream stream) {
    (void)stream;
    use(context_of(event));
    fake.recorded++;
    return fake.record_answer;
}
static CUresult record_own(CUevent event, CUstream stream) {
    (void)stream;
    use(context_of(event));
    fake.recorded_own++;
    return fake.record_answer;
}
static CUresult launch_graph(CUgraphExec graph, CUstream stream) {
    (void)graph, (void)stream;
    fake.launched++;
    return 0;
}
static CUresult launch_on_several(CUDA_LAUNCH_PARAMS *list, unsigned count, unsigned flags) {
    (void)list, (void)flags;
    fake.launched += count;
    return 0;
}
static CUresult query(CUevent event) {
    use(context_of(event));
    return 0;
}
static CUresult elapsed(float *millis, CUevent from, CUevent to) {
    use(context_of(from));
    use(context_of(to));
    *millis = 0.1f;
    return 0;
}
static CUresult query_stream(CUstream stream) {
    (void)stream;
    return 0;
}
static void count_open(sl_lane_t *lane, void *unused) {
    (void)unused;
    fake.open_at_destroy += lane->meter.is_open && lane->context == contexts[0];
}

/* While the driver destroys the context, another thread destroys a stream. */
static CUresult destroy(CUcontext context) {
    sl_lane_each(count_open, NULL);
    if (fake.destroy_answer)
        return fake.destroy_answer;
    fake.dead[context == contexts[1]] = true;
    sl_gate_leave_stream(STREAM);
    return 0;
}

static void begin(void) {
    real = (sl_real_t){.cuDeviceGetUuid_v2 = get_uuid, .cuDeviceGetUuid = get_uuid, .cuDeviceGetCount = get_count,
                       .cuDeviceTotalMem_v2 = total_mem, .cuCtxGetDevice = get_device, .cuCtxGetCurrent = get_current,
                       .cuCtxPushCurrent_v2 = push, .cuCtxPopCurrent_v2 = pop, .cuCtxDestroy_v2 = destroy,
                       .cuEventCreate = create_event, .cuEventRecord = record, .cuEventQuery = query,
                       .cuEventElapsedTime = elapsed, .cuStreamQuery = query_stream,
                       .cuEventRecord_ptsz = record_own, .cuStreamQuery_ptsz = query_stream, .cuGraphLaunch = launch_graph,
                       .cuGraphLaunch_ptsz = launch_graph, .cuLaunchCooperativeKernelMultiDevice = launch_on_several};
    setenv("SLUICE_TENANT", "lane", 0);
    setenv("SLUICE_COMPUTE", "50%", 1);
    CHECK(sl_tenant_attach() == SL_TENANT_ATTACHED);
    CHECK(sl_gate_is_on());
    fake.current = contexts[0];
}

static uint64_t unmetered(void) {
    return sl_lane_current()->gpu->share->unmetered_calls;
}

static void submit(unsigned count) {
    for (unsigned i = 0; i < count; i++) {
        sl_gate_pass_t pass;
        CHECK(sl_gate_enter_kernel(&pass, STREAM, SL_GATE_LEGACY, 4711));
        sl_gate_leave(&pass, CUDA_SUCCESS);
    }
}

static void destroys(void) {
    begin();
    submit(20);
    fake.current = contexts[1];
    CHECK(hook_cuCtxDestroy_v2(contexts[0]) == 0);
    CHECK(!fake.open_at_destroy, "a batch is open when the driver destroys the context");
    CHECK(!fake.used_dead, "events of a dead context were used %u times", fake.used_dead);
    CHECK(fake.current == contexts[1], "another context is current");
    submit(5);
    CHECK(!fake.used_dead, "events of a dead context were used %u times", fake.used_dead);
}

static void refuses(void) {
    begin();
    submit(20);
    fake.destroy_answer = 201;
    unsigned events = fake.events;
    uint64_t calls = sl_lane_current()->calls;
    CHECK(hook_cuCtxDestroy_v2(contexts[0]) == 201);
    submit(5);
    CHECK(sl_lane_current()->calls == calls + 5 && fake.events <= events + 4, "the lane did not go on");
}

/* A call that cannot be measured is forwarded, and counted as unmetered. */
static void counts_unmeasured(void) {
    begin();
    submit(3);
    CHECK(unmetered() == 0);
    fake.record_answer = 700;
    submit(4);
    CHECK(unmetered() > 0 && unmetered() <= 4, "%llu", (unsigned long long)unmetered());
    uint64_t before = unmetered();
    fake.record_answer = 0;
    CHECK(hook_cuLaunchCooperativeKernelMultiDevice(NULL, 2, 0) == 0 && hook_cuLaunchCooperativeKernelMultiDevice(NULL, 1, 0) == 0);
    CHECK(unmetered() == before + 2 && fake.launched == 3);
}

static void measures_graphs(void) {
    begin();
    CHECK(hook_cuGraphLaunch_ptsz((CUgraphExec)0x900, NULL) == 0 && fake.recorded_own > 0 && !fake.recorded, "in the legacy stream");
    unsigned own = fake.recorded_own;
    fake.current = contexts[1];
    CHECK(hook_cuGraphLaunch((CUgraphExec)0x910, NULL) == 0 && fake.recorded > 0 && fake.recorded_own == own, "in the stream of the thread");
    CHECK(fake.launched == 2 && unmetered() == 0);
}

/* The child has contexts, events and an entry on the board of its own, whatever its parent had. */
static void forks(void) {
    begin();
    submit(20);
    const sl_lane_t *lane = sl_lane_current();
    unsigned process = lane->gpu->board.process;
    pid_t child = fork();
    if (child == 0) {
        fake.events = 0;
        CHECK(sl_gate_is_on());
        submit(3);
        lane = sl_lane_current();
        CHECK(lane->calls == 3 && lane->gpu->board.process != process, "%u calls, entry %u", lane->calls, lane->gpu->board.process);
        CHECK(fake.events > 0 && lane->gpu->board.identity == sl_tenant.self.identity, "it goes on with the parent's events");
        _exit(0);
    }
    int status;
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    submit(3);
    CHECK(lane->calls == 23 && lane->gpu->board.process == process);
}

/* The driver gives a new context the address of the old one. */
static void reuses_an_address(void) {
    begin();
    submit(20);
    CHECK(hook_cuCtxDestroy_v2(contexts[0]) == 0);
    for (unsigned i = 0; i < fake.events; i++)
        fake.of_event[i] = GONE;
    fake.dead[0] = false;
    submit(20);
    CHECK(!fake.used_dead && sl_lane_current()->calls == 20, "events of a dead context were used %u times", fake.used_dead);
}

/* Another stream gets the handle of one that was destroyed while its batch was open. */
static void reuses_a_stream(void) {
    begin();
    unsigned same = 0;
    for (unsigned i = 0; i < 200 && !same; i++) {
        submit(1);
        sl_meter_t *meter = &sl_lane_current()->meter;
        uint64_t number = meter->open;
        if (!meter->is_open)
            continue;
        sl_gate_leave_stream(STREAM);
        submit(1);
        same = meter->open == number && meter->is_open;
        CHECK(!same || meter->batches[number % SL_METER_BATCHES].count == 2, "it is measured as the old one");
    }
    CHECK(same, "no batch was open long enough");
}

static CUresult captures(CUstream stream, CUstreamCaptureStatus *status) {
    (void)stream;
    *status = 1;
    return 0;
}

/* Nothing runs, and an event would become a part of the graph. */
static void captures_a_stream(void) {
    begin();
    submit(20);
    unsigned recorded = fake.recorded, calls = sl_lane_current()->calls;
    real.cuStreamIsCapturing = captures;
    atomic_fetch_add(&sl_stream_open_captures, 1);
    submit(5);
    CHECK(fake.recorded == recorded && sl_lane_current()->calls == calls && unmetered() == 0, "%u calls, %llu unmetered",
          sl_lane_current()->calls - calls, (unsigned long long)unmetered());
}

static void lacks_a_board(void) {
    char path[128];
    int length = snprintf(path, sizeof path, "%s/board-", test_folder);
    for (int i = 0; i < 16; i++)
        length += snprintf(path + length, sizeof path - (size_t)length, "07");
    unlink(path);
    CHECK(mkdir(path, 0700) == 0);
    setenv("SLUICE_LOG", "error", 1);
    begin();
    CHECK(hook_cuGraphLaunch((CUgraphExec)0x900, STREAM) == CUDA_ERROR_NOT_PERMITTED && !fake.launched, "it ran beside others");
    rmdir(path);
}
static void lacks_a_board_and_fails(void) {
    setenv("SLUICE_ON_ERROR", "fail", 1);
    setenv("SLUICE_TENANT", "strict", 1);
    lacks_a_board();
}

#define SECOND 1000000000ull

/* A debt that another process overwrote delays no call, and idle time is not saved up. */
static void has_a_strange_debt(void) {
    begin();
    submit(20);
    sl_region_share_t *share = sl_lane_current()->gpu->share;
    alarm(20);
    share->due_nanos = sl_os_nanos() + 365 * 86400 * SECOND;
    submit(20);
    CHECK(share->due_nanos < sl_os_nanos() + 700 * SECOND);
    uint64_t now = sl_os_nanos();
    share->due_nanos = now / 2;
    submit(50);
    sl_gate_leave_context(contexts[0]); /* closes the batch */
    CHECK(share->due_nanos + SECOND > now, "%.0f s are saved up", (double)(now - share->due_nanos) / 1e9);
}

static unsigned sharers_after_a_while(void) {
    usleep(30000);
    submit(20);
    return sl_lane_current()->gpu->sharers;
}

/* A free slot is no sharer, whenever its last owner came to the gate. */
static void counts_sharers(void) {
    begin();
    submit(20);
    unsigned slot = sl_tenant.slot + 1;
    sl_tenant.region.gpus[0].slots = slot + 1;
    sl_region_account(&sl_tenant.region, slot, 0)->submitting_nanos = sl_os_nanos() + 10 * SECOND;
    CHECK(sharers_after_a_while() == 1);
    sl_tenant.region.slots[slot].owner = 99;
    CHECK(sharers_after_a_while() == 2);
}

static void has_many(void) {
    begin();
    for (unsigned i = 0; i < 300; i++) {
        fake.current = (CUcontext)(uintptr_t)(0x10000 + i * 0x100);
        CHECK(sl_lane_current(), "context %u has no lane, and its work no limit", i + 1);
    }
}

int main(void) {
    use_test_folder();
    printf("should_end_before_the_context_does\n");
    CHECK(in_child(destroys) == 0);
    printf("should_go_on_when_the_driver_keeps_the_context\n");
    CHECK(in_child(refuses) == 0);
    printf("should_not_know_a_new_context_by_an_old_address\n");
    CHECK(in_child(reuses_an_address) == 0);
    printf("should_not_know_a_new_stream_by_an_old_handle\n");
    CHECK(in_child(reuses_a_stream) == 0);
    printf("should_leave_a_stream_alone_that_captures\n");
    CHECK(in_child(captures_a_stream) == 0);
    printf("should_refuse_without_a_board_where_it_must_fail\n");
    CHECK(in_child(lacks_a_board_and_fails) == 0);
    printf("should_put_a_debt_right_that_cannot_be_true\n");
    CHECK(in_child(has_a_strange_debt) == 0);
    printf("should_share_the_cap_with_the_living_only\n");
    CHECK(in_child(counts_sharers) == 0);
    printf("should_begin_anew_in_a_child\n");
    CHECK(in_child(forks) == 0);
    printf("should_count_what_it_cannot_measure\n");
    CHECK(in_child(counts_unmeasured) == 0);
    printf("should_measure_a_graph_in_its_own_default_stream\n");
    CHECK(in_child(measures_graphs) == 0);
    printf("should_have_a_lane_for_each_of_many_contexts\n");
    CHECK(in_child(has_many) == 0);
    return 0;
}
