/* The SLUICE_SIM_* variables, read once; shared by the simulated driver and the simulated NVML. */
#ifndef SIM_SETTINGS_H
#define SIM_SETTINGS_H

#include <stdint.h>

#define SIM_GPUS_MAX 16

typedef struct {
    unsigned gpus;
    unsigned visible;            /* how many devices CUDA shows */
    int visible_gpu[SIM_GPUS_MAX]; /* CUDA's number of a device to the unit, see units.h */
    unsigned instances[SIM_GPUS_MAX]; /* MIG instances of a GPU; 0: it is not split */
    int fastest;                 /* the GPU that CUDA counts first when it may choose */
    uint64_t memory_bytes;
    uint64_t reserved_bytes;     /* of the driver; only NVML's total has it */
    uint64_t context_bytes;
    uint64_t link_bytes_per_s;
    uint64_t pageable_bytes_per_s; /* the same for host memory that is not pinned */
    unsigned checkpoint_percent; /* of the time that a checkpoint and a restore take on an H200 */
    uint64_t launch_ns;
    uint64_t switch_ns;          /* what the GPU needs to change from one process to another */
    uint64_t free_ns;            /* for each GiB */
    int launch_blocks;           /* CUDA_LAUNCH_BLOCKING: a launch returns when the kernel has ended */
    int sms;
    int driver;
    unsigned temperature, ecc, xid; /* what NVML tells of the health of every GPU; 0: nothing */
    int lost;                    /* the GPU that CUDA and NVML do not reach, */
    uint64_t lost_after_ns;      /* so long after their first call; lost is -1 where there is none */
    char nvml[32];               /* version of the driver that NVML tells, */
    int nvml_major, nvml_minor;  /* and its numbers; 0: not chosen */
    char state_path[256];
    char faults[1024];
    char problem[256]; /* empty: every variable is valid */
} sim_settings_t;

/* Prints one line to stderr at the first call if a variable is invalid. */
const sim_settings_t *sim_settings(void);

/* Answers that both libraries share. */
#define SIM_NVML_VERSION "580.00.00"
#define SIM_DEVICE_NAME "Sluice Simulated GPU"
#define SIM_DEVICE_BUS(device) (6 + (device))

/* "50ms", "3us", "2s", "100ns", "0". */
int sim_settings_duration(const char *text, uint64_t *nanoseconds);

#endif
