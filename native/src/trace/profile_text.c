/* profile_text: formats the lines that Alnair's profiler and its interposer wrote.
 *
 * A time in them is a number of microseconds, the start of a call wall-clock nanoseconds. */
#include "trace/profile_text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define V1_NAMES SL_PROFILE_TO_GPU_ASYNC
#define MICRO 1000u
#define MILLI 1000000u

static const char *const names[SL_PROFILE_NAMES] = {
    [SL_PROFILE_INIT] = "cuInit",
    [SL_PROFILE_ALLOC] = "cuMemAlloc",
    [SL_PROFILE_FREE] = "cuMemFree",
    [SL_PROFILE_LAUNCH] = "cuLaunchKernel",
    [SL_PROFILE_TO_GPU] = "cuMemcpyH2D",
    [SL_PROFILE_FROM_GPU] = "cuMemcpyD2H",
    [SL_PROFILE_LOOK_UP] = "cuGetProcAddress",
    [SL_PROFILE_TO_GPU_ASYNC] = "cuMemcpyH2D_ASYNC",
    [SL_PROFILE_COPY] = "cudaMemcpy",
    [SL_PROFILE_COPY_ASYNC] = "cudaMemcpyAsync",
};

uint64_t sl_profile_text_period_nanos(sl_compat_profile_format_t format) {
    return format == SL_COMPAT_PROFILE_V2 ? 10 * MILLI : 100 * MILLI;
}

__attribute__((format(printf, 4, 5))) static size_t add(char *text, size_t length, size_t room, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    int added = vsnprintf(text + length, room - length, format, arguments);
    va_end(arguments);
    return added > 0 && (size_t)added < room - length ? length + (size_t)added : length;
}

size_t sl_profile_text_metrics(char text[SL_PROFILE_TEXT_BYTES], sl_compat_profile_format_t format,
                               const sl_profile_sum_t sums[SL_PROFILE_NAMES], uint64_t used_bytes) {
    size_t length = 0;
    bool is_first = format == SL_COMPAT_PROFILE_V1;
    char separator = is_first ? '\n' : ',';
    if (!is_first)
        length = add(text, length, SL_PROFILE_TEXT_BYTES, "name:mem_used,count:%llu\n", (unsigned long long)used_bytes);
    for (unsigned i = 0; i < (is_first ? V1_NAMES : SL_PROFILE_NAMES); i++)
        length = add(text, length, SL_PROFILE_TEXT_BYTES, "name:%s%ccount:%llu%cburst:%llu\n", names[i], separator,
                     (unsigned long long)sums[i].calls, separator, (unsigned long long)(sums[i].nanos / MICRO));
    return length;
}

static bool has_line(sl_compat_profile_format_t format, sl_profile_name_t name) {
    if (format == SL_COMPAT_PROFILE_V1)
        return name == SL_PROFILE_INIT || name == SL_PROFILE_TO_GPU || name == SL_PROFILE_FROM_GPU;
    return name < SL_PROFILE_NAMES && name != SL_PROFILE_LAUNCH && name != SL_PROFILE_LOOK_UP;
}

size_t sl_profile_text_event(char text[SL_PROFILE_LINE_BYTES], sl_compat_profile_format_t format, const sl_profile_event_t *event) {
    if (!has_line(format, event->name))
        return 0;
    const char *name = names[event->name];
    unsigned long long start = event->start_nanos, micros = event->nanos / MICRO, bytes = event->bytes;
    if (format == SL_COMPAT_PROFILE_V1)
        return add(text, 0, SL_PROFILE_LINE_BYTES, "name:%s start:%llu burst:%llu\n", name, start, micros);
    if (format == SL_COMPAT_PROFILE_V1_5)
        return add(text, 0, SL_PROFILE_LINE_BYTES, "name:%s, start:%llu, burst:%llu, bytes:%llu\n", name, start, micros, bytes);
    return add(text, 0, SL_PROFILE_LINE_BYTES, "name:%s, start:%llu, burst:%llu, bytes:%llu, kind:%d\n", name, start, micros,
               bytes, event->kind);
}

size_t sl_profile_text_workspace(char text[SL_PROFILE_TEXT_BYTES], const sl_profile_workspace_t *workspace) {
    return add(text, 0, SL_PROFILE_TEXT_BYTES, "pid:%llu\nkernel-cnt:%llu\nmem-used:%llu\ntoken-cnt:%llu\n",
               (unsigned long long)workspace->pid, (unsigned long long)workspace->kernels,
               (unsigned long long)workspace->used_bytes, (unsigned long long)workspace->tokens);
}
