/* compat_wrapper: the switches of cuda-wrapper (libcuda2.so, libcuda3.so): WRAPPER_MAX_MEMORY, its line on stderr, and
 * /tmp/wrapper-log.
 *
 * Only a library with the tool's file name writes the log. Each record is one write to the end of the file, which is closed again. So
 * files of the host program, above all standard output, are never written to. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tenant/switches/compat.h"
#include "os/os.h"
#include "os/size.h"

#define DEFAULT_BYTES 4217928960u
#define RESERVE_BYTES 500000000u /* what libcuda3.so kept back for the context */
#define TIME_BYTES 64

const char *sl_compat_wrapper_log = "/tmp/wrapper-log";

static struct {
    bool in_use;
    bool logs;
    bool is_runtime; /* libcuda3.so was for the runtime API */
    uint64_t reserve_bytes;
} wrapper;

/* Own code, because the C library's functions wait for the lock of its time zones. */
static void write_time(char text[TIME_BYTES]) {
    uint64_t seconds = sl_os_wall_nanos() / 1000000000u, day = seconds / 86400;
    static const unsigned lengths[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    unsigned year = 1970, month = 0, leap;
    for (; leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0), day >= 365u + leap; year++)
        day -= 365u + leap;
    for (unsigned length; length = lengths[month] + (month == 1 ? leap : 0), day >= length; month++)
        day -= length;
    snprintf(text, TIME_BYTES, "%04u-%02u-%02u %02u:%02u:%02u", year % 10000, month + 1, (unsigned)day + 1,
             (unsigned)(seconds / 3600 % 24), (unsigned)(seconds / 60 % 60), (unsigned)(seconds % 60));
}

static void append(const char *record, size_t length) {
    const int flags = O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY | O_NONBLOCK;
    int fd = open(sl_compat_wrapper_log, flags, 0644);
    if (fd < 0)
        return;
    struct stat status;
    ssize_t ignored = sl_os_stat(fd, &status) && S_ISREG(status.st_mode) ? write(fd, record, length) : 0;
    (void)ignored;
    close(fd);
}

static void log_start(uint64_t quota) {
    char record[160], time[TIME_BYTES];
    write_time(time);
    int length = snprintf(record, sizeof record, "Init!\nTime: %s  total_quota: %llu pid: %d\n", time,
                          (unsigned long long)quota, (int)getpid());
    append(record, (size_t)length);
}

static void log_event(const char *function, uint64_t bytes, uint64_t used, uint64_t quota) {
    char record[256], time[TIME_BYTES];
    write_time(time);
    int length = snprintf(record, sizeof record, "%s\nTime: %s  total_mem: %llu bytesize: %llu total_quota: %llu pid: %d\n",
                          function, time, (unsigned long long)used, (unsigned long long)bytes, (unsigned long long)quota,
                          (int)getpid());
    append(record, (size_t)length);
}

void sl_compat_wrapper_note(sl_compat_event_t event, uint64_t bytes, uint64_t used, uint64_t limit) {
    if (!wrapper.in_use)
        return;
    int saved = errno;
    uint64_t quota = limit ? limit + wrapper.reserve_bytes : 0;
    if (event == SL_COMPAT_REFUSED) {
        char line[128];
        int length = snprintf(line, sizeof line, "alloc %llu failed, total_mem %llu, quota %llu\n",
                              (unsigned long long)bytes, (unsigned long long)used, (unsigned long long)quota);
        sl_os_print(STDERR_FILENO, line, (size_t)length);
    }
    const char *take = wrapper.is_runtime ? "cudaMalloc" : "cuMemAlloc_v2";
    const char *give = wrapper.is_runtime ? "cudaFree" : "cuMemFree_v2";
    if (wrapper.logs)
        log_event(event == SL_COMPAT_FREED ? give : take, bytes, used, quota);
    errno = saved;
}

bool sl_compat_wrapper(sl_options_t *options, sl_reason_t *reason) {
    bool is_runtime = sl_options_loaded_as("libcuda3.so");
    bool is_named = is_runtime || sl_options_loaded_as("libcuda2.so");
    const char *text = sl_options_variable("WRAPPER_MAX_MEMORY");
    memset(&wrapper, 0, sizeof wrapper);
    if (!text && !is_named)
        return true;
    options->source = text ? "cuda-wrapper's switches" : "cuda-wrapper's default";
    uint64_t quota = DEFAULT_BYTES, reserve = is_runtime ? RESERVE_BYTES : 0;
    if (text && !sl_size_parse_older(text, strlen(text), &quota))
        return sl_report_fail(reason, "WRAPPER_MAX_MEMORY=%.80s: bad size; write bytes, or " SL_SIZE_HINT, text);
    if (quota <= reserve)
        sl_report(SL_WARN, "WRAPPER_MAX_MEMORY=%.80s: libcuda3.so keeps back 500000000 bytes, so every allocation is "
                  "refused", text);
    /* At least 1 byte, because 0 means no limit. */
    sl_options_limit_every_gpu(options, quota > reserve ? quota - reserve : 1);
    wrapper.in_use = true;
    wrapper.logs = is_named;
    wrapper.is_runtime = is_runtime;
    wrapper.reserve_bytes = reserve;
    if (wrapper.logs)
        log_start(quota);
    return true;
}
