/* HAMi's policies: by default a cap holds only while another tenant uses the GPU. The fake driver reports 0.1 ms of GPU time for each piece
 * of work but takes none. So a cap is used up at once. The number of waits shows whether the cap held. */
#include "check.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>

#include "compute/admit.h"
#include "compute/batch.h"
#include "compute/gate.h"
#include "compute/lane.h"
#include "os/os.h"
#include "real.h"
#include "tenant/tenant.h"

#define MIB (1ull << 20)
#define STREAM (CUstream)(uintptr_t)0x5000
#define CONTEXT (CUcontext)(uintptr_t)0x7000
#define CALLS 600 /* at 0.1 ms each more than a cap of 10 % lets through at once */
#define COUNTS_NANOS 1000000000u

static float took_millis = 0.1f;

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
    *context = CONTEXT;
    return 0;
}
static CUresult push(CUcontext context) {
    (void)context;
    return 0;
}
static CUresult create_event(CUevent *event, unsigned flags) {
    static uintptr_t events;
    (void)flags;
    *event = (CUevent)++events;
    return 0;
}
static CUresult record(CUevent event, CUstream stream) {
    (void)event, (void)stream;
    return 0;
}
static CUresult query(CUevent event) {
    (void)event;
    return 0;
}
static CUresult elapsed(float *millis, CUevent from, CUevent to) {
    (void)from, (void)to;
    *millis = took_millis;
    return 0;
}
static CUresult query_stream(CUstream stream) {
    (void)stream;
    return 0;
}

static void attach(const char *tenant) {
    real = (sl_real_t){.cuDeviceGetUuid_v2 = get_uuid, .cuDeviceGetUuid = get_uuid, .cuDeviceGetCount = get_count,
                       .cuDeviceTotalMem_v2 = total_mem, .cuCtxGetDevice = get_device, .cuCtxGetCurrent = get_current,
                       .cuCtxPushCurrent_v2 = push, .cuCtxPopCurrent_v2 = get_current, .cuEventCreate = create_event,
                       .cuEventRecord = record, .cuEventQuery = query, .cuEventElapsedTime = elapsed, .cuStreamQuery = query_stream};
    setenv("SLUICE_TENANT", tenant, 1);
    CHECK(sl_tenant_attach() == SL_TENANT_ATTACHED && sl_gate_is_on());
}

/* Each call is a batch of its own. */
static void submit(unsigned count) {
    for (unsigned i = 0; i < count; i++) {
        sl_gate_pass_t pass;
        CHECK(sl_gate_enter_kernel(&pass, STREAM, SL_GATE_LEGACY, 4711));
        sl_gate_leave(&pass, CUDA_SUCCESS);
        sl_lane_t *lane = sl_lane_current();
        sl_mutex_lock(&lane->gpu->lock);
        sl_batch_close(lane);
        sl_batch_settle(lane);
        sl_mutex_unlock(&lane->gpu->lock);
    }
}

static uint64_t waits_for_the_cap(void) {
    return sl_lane_current()->gpu->share->cap_waits;
}

static void alone(void) {
    attach("job");
    submit(CALLS);
    CHECK(!waits_for_the_cap(), "%llu waits", (unsigned long long)waits_for_the_cap());
}

static void forced(void) {
    setenv("GPU_CORE_UTILIZATION_POLICY", "force", 1);
    attach("forced");
    submit(CALLS);
    CHECK(waits_for_the_cap() > 0);
}

static void own(void) {
    unsetenv("CUDA_DEVICE_SM_LIMIT");
    setenv("SLUICE_COMPUTE", "10%", 1);
    attach("own");
    submit(CALLS);
    CHECK(waits_for_the_cap() > 0);
}

static void *lift_the_cap(void *unused) {
    (void)unused;
    usleep(300000);
    sl_region_limits_t limits = *sl_tenant.region.limits;
    memset(limits.compute_permille, 0, sizeof limits.compute_permille);
    limits.epoch++;
    int fd = open(sl_tenant.region.path, O_RDWR);
    CHECK(fd >= 0 && pwrite(fd, &limits, sizeof limits, SL_REGION_LIMITS_OFFSET) == sizeof limits && close(fd) == 0);
    return NULL;
}

/* Lifts the cap like `sluice set`. At 0.1 % the second call would wait for a minute. */
static void lifted(void) {
    unsetenv("CUDA_DEVICE_SM_LIMIT");
    setenv("SLUICE_COMPUTE", "0.1%", 1);
    attach("lifted");
    pthread_t other;
    took_millis = 60;
    uint64_t begin = sl_os_nanos();
    CHECK(pthread_create(&other, NULL, lift_the_cap, NULL) == 0);
    submit(3);
    uint64_t millis = (sl_os_nanos() - begin) / 1000000;
    CHECK(pthread_join(other, NULL) == 0);
    CHECK(waits_for_the_cap() > 0, "it did not wait");
    CHECK(millis < 15000, "it waited for %llu ms", (unsigned long long)millis);
}

/* Another tenant with this HAMi priority. On request it works now and then, until it is killed. It starts before this process attaches,
 * because a child of an attached process would join the same tenant. */
typedef struct {
    pid_t pid;
    int begin, ready;
} rival_t;

static rival_t rival_of(const char *priority) {
    int begin[2], ready[2];
    char byte;
    CHECK(pipe(begin) == 0 && pipe(ready) == 0);
    pid_t pid = fork();
    if (pid == 0) {
        CHECK(read(begin[0], &byte, 1) == 1);
        setenv("CUDA_TASK_PRIORITY", priority, 1);
        attach("rival");
        submit(1);
        CHECK(write(ready[1], "r", 1) == 1);
        for (;; usleep(1000))
            submit(1);
    }
    return (rival_t){pid, begin[1], ready[0]};
}

static void begin(rival_t rival) {
    char byte;
    CHECK(write(rival.begin, "b", 1) == 1 && read(rival.ready, &byte, 1) == 1);
}

static void end(rival_t rival) {
    kill(rival.pid, SIGKILL);
    waitpid(rival.pid, NULL, 0);
}

static void shared(void) {
    rival_t first = rival_of("1"), second = rival_of("1");
    begin(first);
    attach("shared");
    submit(CALLS);
    uint64_t waits = waits_for_the_cap();
    end(first);
    CHECK(waits > 0, "the cap did not hold beside another");
    usleep(3 * COUNTS_NANOS / 2 / 1000); /* the debt is paid, and the other tenant no longer counts */
    submit(1);
    waits = waits_for_the_cap();
    submit(CALLS);
    uint64_t alone = waits_for_the_cap();
    begin(second);
    usleep(50000);
    submit(CALLS);
    uint64_t again = waits_for_the_cap();
    end(second);
    CHECK(alone == waits, "the cap holds though nobody else is there");
    CHECK(again > waits, "the cap did not come back");
}

static void above(void) {
    rival_t below = rival_of("1");
    begin(below);
    setenv("CUDA_TASK_PRIORITY", "0", 1);
    attach("above");
    submit(CALLS);
    uint64_t waits = waits_for_the_cap();
    end(below);
    CHECK(!waits, "one of lower priority counts");
}

int main(void) {
    static const struct { const char *name; void (*test)(void); } tests[] = {
        {"should_lift_the_cap_of_one_who_is_alone", alone},
        {"should_hold_the_cap_by_force", forced},
        {"should_hold_a_cap_of_sluice", own},
        {"should_see_while_it_waits_that_the_cap_is_lifted", lifted},
        {"should_hold_the_cap_while_another_uses_the_gpu", shared},
        {"should_not_count_a_lower_priority", above},
    };
    setenv("CUDA_DEVICE_SM_LIMIT", "10", 1);
    use_test_folder();
    for (size_t i = 0; i < sizeof tests / sizeof *tests; i++) {
        printf("%s\n", tests[i].name);
        fflush(stdout);
        CHECK(in_child(tests[i].test) == 0);
    }
    return 0;
}
