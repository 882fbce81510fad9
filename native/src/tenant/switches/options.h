/* options: reads the environment into one record. */
#ifndef SL_OPTIONS_H
#define SL_OPTIONS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "os/report.h"
#include "tenant/switches/shares.h"

#define SL_OPTIONS_GPUS SL_SHARES_GPUS

#define SL_OPTIONS_LONGEST_WAIT_MILLIS 3600000u /* of an allocation over the quota */

/* Windows of culocker: when it takes the GPU's lock and releases it. */
typedef enum {
    SL_WINDOWS_COUNT,  /* a window is a number of operations */
    SL_WINDOWS_TIME,   /* a window is a span of time */
    SL_WINDOWS_ALWAYS, /* every operation has a window of its own */
} sl_options_window_mode_t;

typedef struct {
    sl_options_window_mode_t mode;
    uint64_t operations;   /* of a window; 0: each begins one */
    uint64_t window_nanos;
    uint64_t skips;        /* number of syncs in a row that do not release the lock */
} sl_options_windows_t;

typedef struct {
    bool wanted;         /* false: nothing asks for a limit, the library only passes calls on */
    bool disabled;       /* an older tool's switch asks for no control at all */
    bool each_process;   /* each process is a tenant of its own, unless they have a name */
    bool fail_on_error;  /* what to do when limits cannot be enforced */
    uint64_t reservoir_bytes, prepared_bytes; /* host memory for released memory: the most; what is made ready ahead; 0 = not given */
    bool mapped;         /* plain memory is mapped by Sluice, so that it can leave the GPU */
    bool wait_on_oom;    /* an allocation over the quota waits for room */
    uint32_t oom_wait_millis;
    const char *trace;   /* directory to which this process is traced; NULL: none */
    const char *region;  /* path of a region that exists; NULL: make one */
    const char *agent;   /* socket of an agent that has a region for us; NULL: none */
    const char *label;   /* what the job calls itself for the agent's policy; NULL: nothing */
    const char *source;  /* the tool whose switches say the limits, for messages; NULL: none */
    const char *shares_source; /* the same for shares of GPU time, where it is another */
    char tenant[64];     /* name; "": from the process the tenant began with */
    uint64_t memory_bytes[SL_OPTIONS_GPUS]; /* 0 = no limit */
    sl_shares_t shares;
    const sl_options_windows_t *windows; /* of culocker; NULL: its switches are not in use */
} sl_options_t;

/* False: a value is invalid; wanted and fail_on_error are set in any case. */
bool sl_options_read(sl_options_t *options, sl_reason_t *reason);

/* SLUICE_REFUSALS=tell, which `sluice run` sets. */
extern atomic_bool sl_options_tells_refusals;

/* SLUICE_SLICES: whether the library controls the time slices of the process. Auto: with versions of the driver that were checked. */
enum { SL_OPTIONS_SLICES_OFF, SL_OPTIONS_SLICES_ON, SL_OPTIONS_SLICES_AUTO };
#define SL_OPTIONS_SLICES_DEFAULT SL_OPTIONS_SLICES_OFF /* until the room slices has been measured on a GPU */
extern _Atomic unsigned sl_options_slices;

/* The variables that set limits of a tenant, one after the other; NULL after the last. */
const char *sl_options_limit_variable(unsigned position, char buffer[40]);

/* For the readers of older tools' switches. */

/* NULL: not set, or empty. If the process has lost its environment, the variable of its ancestor. */
const char *sl_options_variable(const char *name);
/* The name of the file that this library was loaded from. Tests set another. */
extern const char *sl_options_file_name;
/* Whether the library's file has this name, or this name with a version: libcuda2.so.10.1, libvgpu.so.v2.9.0. */
bool sl_options_loaded_as(const char *file_name);
/* Whether the text can be a tenant's name, which is also the name of a file. */
bool sl_options_is_name(const char *name);
/* Sets the tenant's name, or refuses an invalid one. */
bool sl_options_name_tenant(sl_options_t *options, const char *variable, const char *name, sl_reason_t *reason);
void sl_options_limit_every_gpu(sl_options_t *options, uint64_t bytes);

#endif
