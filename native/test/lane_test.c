/* A lane takes no part any more when the driver destroys its context; when the context lives on, so does the lane. The driver is a fake
 * that has two contexts and sees who uses an event of a dead one. */
#include "check.h"

#include "compute/gate.h"
#include "compute/lane.h"
#include "hooks.h"
#include "os/os.h"
#include "real.h"
#include "tenant/tenant.h"

#define MIB (1ull << 20)
#define STREAM (CUstream)(uintptr_t)0x5000

static CUcontext const contexts[2] = {(CUcontext)(uintptr_t)0x7000, (CUcontext)(uintptr_t)0x8000};
static struct {
    CUcontext current, pushed;
    bool dead[2];
    CUcontext of_event[256];
    unsigned events, used_dead, open_at_destroy;
    CUresult destroy_answer;
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
    fake.used_dead += (context == contexts[0] && fake.dead[0]) || (context == contexts[1] && fake.dead[1]);
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

/* While it is at work, a thread destroys a stream, as threads do. */
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
                       .cuEventElapsedTime = elapsed, .cuStreamQuery = query_stream};
    setenv("SLUICE_TENANT", "lane", 1);
    setenv("SLUICE_COMPUTE", "50%", 1);
    CHECK(sl_tenant_attach() == SL_TENANT_ATTACHED);
    CHECK(sl_gate_is_on());
    fake.current = contexts[0];
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

int main(void) {
    use_test_folder();
    printf("should_end_before_the_context_does\n");
    CHECK(in_child(destroys) == 0);
    printf("should_go_on_when_the_driver_keeps_the_context\n");
    CHECK(in_child(refuses) == 0);
    return 0;
}
