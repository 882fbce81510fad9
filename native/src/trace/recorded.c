/* recorded: a trace that this process takes part in: its settings, and the files that describe the process. */
#define _GNU_SOURCE
#include "trace/recorded.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cuda_entries.h"
#include "driver/entry.h"
#include "os/os.h"
#include "real.h"
#include "tenant/tenant.h"

#define ATTEMPTS 1000
#define SECOND 1000000000ull

static int create(const char *path) {
    return open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
}

/* The file may exist: an ended process had the same number, or this process recorded before execve or in an earlier trace. */
static int create_process(sl_recorded_t *trace) {
    for (int attempt = 1; attempt < ATTEMPTS; attempt++) {
        snprintf(trace->process, sizeof trace->process, attempt == 1 ? "%d" : "%d-%d", (int)getpid(), attempt);
        snprintf(trace->path, sizeof trace->path, "%s/process-%s", trace->settings.directory, trace->process);
        int fd = create(trace->path);
        if (fd >= 0 || errno != EEXIST)
            return fd;
    }
    return -1;
}

static void write_entries(const char *directory) {
    char path[512], *text = NULL;
    size_t length = 0;
    snprintf(path, sizeof path, "%s/entries-%016llx", directory, SL_ENTRY_DIGEST);
    int fd = create(path);
    FILE *out = fd >= 0 ? open_memstream(&text, &length) : NULL;
    for (unsigned i = 0; out && i < sl_entry_cuda.count; i++)
        fprintf(out, "%u\t%s\n", i, sl_entry_cuda.names[i]);
    ssize_t written = out && fclose(out) == 0 ? write(fd, text, length) : 0;
    (void)written;
    free(text);
    if (fd >= 0)
        close(fd);
}

static uint64_t wall_nanos_of_start(void) {
    struct timespec since_boot;
    uint64_t ticks = sl_tenant.self.identity >> 22, rate = (uint64_t)sysconf(_SC_CLK_TCK);
    clock_gettime(CLOCK_BOOTTIME, &since_boot);
    uint64_t up = (uint64_t)since_boot.tv_sec * SECOND + (uint64_t)since_boot.tv_nsec, start = ticks * (SECOND / (rate ? rate : 100));
    return sl_os_wall_nanos() - (up > start ? up - start : 0);
}

static void describe(const sl_recorded_t *trace, int fd) {
    char command[1024] = "", text[2048];
    int version = 0;
    ssize_t length = sl_os_read("/proc/self/cmdline", command, sizeof command);
    for (ssize_t i = 0; i + 1 < length; i++)
        if ((unsigned char)command[i] < ' ')
            command[i] = ' ';
    if (real.cuDriverGetVersion)
        real.cuDriverGetVersion(&version);
    int bytes = snprintf(text, sizeof text, "command=%s\nstart=%llu\ntenant=%.63s\ndriver=CUDA %d.%d\nlibrary=%s\nentries=%016llx\nidentity=%llu\n",
                         command, (unsigned long long)wall_nanos_of_start(), sl_tenant.region.base ? sl_tenant.region.header->tenant : "",
                         version / 1000, version % 1000 / 10, SL_VERSION, SL_ENTRY_DIGEST,
                         (unsigned long long)sl_tenant.self.identity);
    ssize_t written = write(fd, text, (size_t)bytes);
    (void)written, (void)trace;
}

sl_recorded_t *sl_recorded_begin(const sl_recorded_settings_t *settings, sl_reason_t *reason) {
    static uint64_t count;
    if (settings->directory[0] != '/') {
        sl_report_fail(reason, "trace directory '%.100s' is no absolute path", settings->directory);
        return NULL;
    }
    sl_recorded_t *trace = calloc(1, sizeof *trace);
    if (!trace) {
        sl_report_fail(reason, "no memory for a trace");
        return NULL;
    }
    trace->settings = *settings;
    int fd = create_process(trace);
    if (fd < 0) {
        sl_report_fail(reason, "cannot trace to %.120s: %s", settings->directory, strerror(errno));
        free(trace);
        return NULL;
    }
    describe(trace, fd);
    close(fd);
    write_entries(settings->directory);
    trace->names.salt = ++count;
    snprintf(trace->names.path, sizeof trace->names.path, "%s/names-%s", settings->directory, trace->process);
    trace->strays = &trace->unplaced;
    return trace;
}

void sl_recorded_ring(sl_recorded_t *trace, const sl_ring_t *ring) {
    sl_trace_process_t *process = sl_ring_process(ring);
    if (!trace->rings) {
        trace->rings = &process->rings;
        atomic_store(&trace->strays, &process->strays);
        atomic_fetch_add(&process->strays, atomic_exchange(&trace->unplaced, 0));
    }
    atomic_fetch_add(trace->rings, 1);
}

void sl_recorded_tell_gpu(sl_recorded_t *trace, unsigned gpu) {
    if (atomic_fetch_or(&trace->gpus, 1u << gpu) >> gpu & 1)
        return;
    int saved = errno;
    const sl_region_gpu_t *entry = &sl_tenant.region.gpus[gpu];
    const uint8_t *id = entry->uuid;
    int index = *(const volatile int32_t *)&entry->index;
    char line[256];
    int bytes = snprintf(line, sizeof line, "gpu.%d=GPU-%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x %.96s\n",
                         index, id[0], id[1], id[2], id[3], id[4], id[5], id[6], id[7], id[8], id[9], id[10], id[11], id[12],
                         id[13], id[14], id[15], entry->name);
    const sl_region_limits_t *limits = sl_tenant.region.limits;
    if ((unsigned)index < 16)
        bytes += snprintf(line + bytes, sizeof line - (size_t)bytes, "share.%d=%u %u\n", index,
                          limits->compute_permille[index], limits->weight ? limits->weight : 1);
    int fd = open(trace->path, O_WRONLY | O_APPEND | O_CLOEXEC | O_NOFOLLOW);
    ssize_t written = fd >= 0 ? write(fd, line, (size_t)bytes) : 0;
    (void)written;
    if (fd >= 0)
        close(fd);
    errno = saved;
}
