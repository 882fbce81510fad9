/* Handles of virtual memory management: memory without addresses. */
#ifndef SIM_VMM_H
#define SIM_VMM_H

#include "entry/sim.h"

typedef struct sim_handle sim_handle_t;

struct sim_handle {
    unsigned references; /* handles given out and mappings */
    size_t bytes;
    off_t offset;        /* in the file of all handles of the process that made it */
    int file;            /* of that process, where it was imported; 0: of this one */
    bool imported;       /* created, and paid for, elsewhere */
    bool shared;         /* it has a row in the state file */
    uint64_t id;
    unsigned row;
    uint64_t key;
    CUmemAllocationProp properties;
    sim_handle_t *next;  /* of those with a row */
};

enum { SIM_HANDLE_FILE_DESCRIPTOR = 1 };

#define SIM_VMM_LABEL_BYTES 4096 /* before the memory of a handle that can be exported */

/* Where its contents are. */
int sim_vmm_file(const sim_handle_t *handle);
/* True: other processes had the memory, and no process has it any more. */
bool sim_vmm_leave(sim_handle_t *handle);

#endif
