/* The SLUICE_SIM_* variables, read once; shared by the simulated driver and the simulated NVML. */
#ifndef SIM_SETTINGS_H
#define SIM_SETTINGS_H

#include <stdint.h>

#define SIM_GPUS_MAX 16

typedef struct {
    unsigned gpus;
    unsigned visible;            /* how many of them CUDA_VISIBLE_DEVICES shows */
    int visible_gpu[SIM_GPUS_MAX]; /* CUDA's number of a device to the GPU */
    uint64_t memory_bytes;
    uint64_t context_bytes;
    uint64_t link_bytes_per_s;
    uint64_t launch_ns;
    int launch_blocks;           /* CUDA_LAUNCH_BLOCKING: a launch returns when the kernel has ended */
    int sms;
    int driver;
    unsigned temperature, ecc, xid; /* what NVML tells of the health of every GPU; 0: nothing */
    int lost;                    /* the GPU that NVML does not reach, */
    uint64_t lost_after_ns;      /* so long after its first call; lost is -1 where there is none */
    char state_path[256];
    char faults[1024];
    char problem[256]; /* empty when every variable makes sense */
} sim_settings_t;

/* Prints one line to stderr the first time when a variable makes no sense. */
const sim_settings_t *sim_settings(void);

/* What both libraries say about a device. */
#define SIM_DEVICE_NAME "Sluice Simulated GPU"
#define SIM_DEVICE_BUS(device) (6 + (device))
void sim_device_uuid(int device, unsigned char bytes[16]);
uint64_t sim_settings_memory(int gpu);

/* "50ms", "3us", "2s", "100ns", "0". */
int sim_settings_duration(const char *text, uint64_t *nanoseconds);

#endif
