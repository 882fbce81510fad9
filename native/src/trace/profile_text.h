/* profile_text: formats the lines that Alnair's profiler and its interposer wrote. */
#ifndef SL_PROFILE_TEXT_H
#define SL_PROFILE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tenant/switches/compat.h"

/* The calls that the profiler counted, in the order of metrics.log. The last three came after the first format. */
typedef enum {
    SL_PROFILE_INIT,
    SL_PROFILE_ALLOC,
    SL_PROFILE_FREE,
    SL_PROFILE_LAUNCH,
    SL_PROFILE_TO_GPU,
    SL_PROFILE_FROM_GPU,
    SL_PROFILE_LOOK_UP,
    SL_PROFILE_TO_GPU_ASYNC,
    SL_PROFILE_COPY,
    SL_PROFILE_COPY_ASYNC,
    SL_PROFILE_NAMES,
    SL_PROFILE_NOTHING = SL_PROFILE_NAMES,
} sl_profile_name_t;

typedef struct {
    uint64_t calls;
    uint64_t nanos;
} sl_profile_sum_t;

typedef struct {
    sl_profile_name_t name;
    uint64_t start_nanos; /* wall clock */
    uint64_t nanos;
    uint64_t bytes;
    int kind; /* cudaMemcpyKind; -1 for calls of the driver */
} sl_profile_event_t;

typedef struct {
    uint64_t pid;
    uint64_t kernels;
    uint64_t used_bytes;
    uint64_t tokens;
} sl_profile_workspace_t;

#define SL_PROFILE_TEXT_BYTES 1024 /* the longest metrics.log */
#define SL_PROFILE_LINE_BYTES 160  /* the longest line of timeline.log */

/* The time between two writes of this format. */
uint64_t sl_profile_text_period_nanos(sl_compat_profile_format_t format);

/* Each returns the length of the text. */
size_t sl_profile_text_metrics(char text[SL_PROFILE_TEXT_BYTES], sl_compat_profile_format_t format,
                               const sl_profile_sum_t sums[SL_PROFILE_NAMES], uint64_t used_bytes);
/* 0: the format has no such line. */
size_t sl_profile_text_event(char text[SL_PROFILE_LINE_BYTES], sl_compat_profile_format_t format, const sl_profile_event_t *event);
size_t sl_profile_text_workspace(char text[SL_PROFILE_TEXT_BYTES], const sl_profile_workspace_t *workspace);

#endif
