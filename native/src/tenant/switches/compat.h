/* compat: the switches of older tools, one file for each tool.
 *
 * A tool's switches count if the library was loaded under the tool's file name, or if its variables are set. The
 * reader then names its tool in source and fills in what Sluice's own variables left open. False: a value is invalid. */
#ifndef SL_COMPAT_H
#define SL_COMPAT_H

#include "tenant/switches/options.h"

/* The profiler changed its formats twice without a version number. */
typedef enum { SL_COMPAT_PROFILE_V1, SL_COMPAT_PROFILE_V1_5, SL_COMPAT_PROFILE_V2 } sl_compat_profile_format_t;

#define SL_COMPAT_PATH_BYTES 3840

typedef struct {
    sl_compat_profile_format_t format;
    char folder[SL_COMPAT_PATH_BYTES];    /* of metrics.log and timeline.log; "": not wanted */
    char workspace[SL_COMPAT_PATH_BYTES]; /* of the interposer's metrics.log; "": not wanted */
} sl_compat_profile_t;

/* HAMi-core, libvgpu.so */
bool sl_compat_hami(sl_options_t *options, sl_reason_t *reason);
/* cuda-wrapper, libcuda2.so and libcuda3.so */
bool sl_compat_wrapper(sl_options_t *options, sl_reason_t *reason);
/* Alnair, libcuinterpose.so */
bool sl_compat_alnair(sl_options_t *options, sl_reason_t *reason);
/* Alnair's profiler, libpfinterpose.so, and the file that its interposer wrote for the exporter. Both limit nothing, so they work beside
 * limits of any source. Returns whether to write files, and which. */
bool sl_compat_alnair_profile(sl_compat_profile_t *settings);
/* If the switches ask for it, tells Alnair's server the container of this process. It limits nothing, works beside limits of any source,
 * and takes a bounded time. */
void sl_compat_alnair_register(void);
/* Whether the profiler's switches are set. */
bool sl_compat_alnair_profiles(void);
/* culocker, cuda_override.so. Its switches set shares of GPU time, and no memory limit. They apply beside a memory limit, unless another
 * source sets shares. Every value is accepted, as culocker did. */
void sl_compat_locker(sl_options_t *options);

/* CUDAw, libcudaw….so. It moved the memory of a paused process, so plain memory is mapped. It limits nothing. */
void sl_compat_cudaw(sl_options_t *options);

/* How an older tool paused and resumed a process from outside. */
typedef struct {
    unsigned depth;   /* SL_REGION_COMMAND_… of its pause */
    int pause[2];     /* signals; 0: none */
    int resume;       /* the same */
    const char *file; /* pauses while it exists; NULL: none */
} sl_compat_triggers_t;

/* The triggers of the tool under whose file name the library was loaded. False: it has none. */
bool sl_compat_triggers(sl_compat_triggers_t *triggers);

/* The lines that cuda-wrapper wrote about a refused allocation, and with SLUICE_LOG=debug about each allocation and free. Without its
 * switches it does nothing. */
typedef enum { SL_COMPAT_REFUSED, SL_COMPAT_TAKEN, SL_COMPAT_FREED } sl_compat_event_t;
void sl_compat_wrapper_note(sl_compat_event_t event, uint64_t bytes, uint64_t used, uint64_t limit);

/* Tests change these. */
extern const char *sl_compat_hami_override;
extern const char *sl_compat_wrapper_log;
extern const char *sl_compat_cudaw_file;
extern const char *sl_compat_alnair_cgroup;
extern uint64_t sl_compat_alnair_wait_nanos;

#endif
