/* compat: the switches of older tools, one file for each tool.
 *
 * A tool's switches count when the library was loaded under the tool's file name, or when its variables are there. The
 * reader then names itself in source and fills in what Sluice's own variables left open. False: a value makes no sense. */
#ifndef SL_COMPAT_H
#define SL_COMPAT_H

#include "tenant/switches/options.h"

/* The profiler changed its formats twice without saying so. */
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
/* Alnair's profiler, libpfinterpose.so, and the file that its interposer wrote for the exporter. Both limit nothing and go
 * with everybody's limits. Whether anything is to be written, and what. */
bool sl_compat_alnair_profile(sl_compat_profile_t *settings);
/* Tells Alnair's server which container this process is of, where its switches ask for that. It limits nothing, goes with everybody's
 * limits and takes a bounded time. */
void sl_compat_alnair_register(void);
/* Whether the profiler's switches are there. */
bool sl_compat_alnair_profiles(void);
/* culocker, cuda_override.so. It speaks of GPU time only, so it comes on top of a limit on memory, where nobody else speaks
 * of that; and it takes every value for something. */
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

/* Those of the tool under whose file name the library was loaded. False: it has none. */
bool sl_compat_triggers(sl_compat_triggers_t *triggers);

/* What cuda-wrapper wrote when an allocation was refused, and with SLUICE_LOG=debug when memory came and went. Nothing
 * happens unless its switches are in use. */
typedef enum { SL_COMPAT_REFUSED, SL_COMPAT_TAKEN, SL_COMPAT_FREED } sl_compat_event_t;
void sl_compat_wrapper_note(sl_compat_event_t event, uint64_t bytes, uint64_t used, uint64_t limit);

/* What tests change. */
extern const char *sl_compat_hami_override;
extern const char *sl_compat_wrapper_log;
extern const char *sl_compat_cudaw_file;
extern const char *sl_compat_alnair_cgroup;
extern uint64_t sl_compat_alnair_wait_nanos;

#endif
