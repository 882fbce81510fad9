/* Handles of virtual memory management: memory without addresses. */
#ifndef SIM_VMM_H
#define SIM_VMM_H

#include "entry/sim.h"

typedef struct sim_handle sim_handle_t;

struct sim_handle {
    unsigned references; /* handles given out and mappings */
    size_t bytes;
    off_t offset;        /* in the file of all handles, */
    int file;            /* or 0, in a file of its own that other processes may map */
    bool imported;       /* created, and paid for, elsewhere */
    bool shared;         /* it has a row in the state file */
    uint64_t id;
    unsigned row;
    uint64_t key;
    CUmemAllocationProp properties;
    sim_handle_t *next;  /* of those with a row */
};

enum { SIM_HANDLE_FILE_DESCRIPTOR = 1 };

/* A file with a page behind the memory that describes it. */
int sim_vmm_make_file(size_t bytes, const CUmemAllocationProp *properties);
void sim_vmm_leave(sim_handle_t *handle);

#endif
