/* The state file: what all processes on the simulated GPUs share, memory taken and time used.
 *
 * Its rules: a file of zeros is a valid empty state. A slot's owner is the identity of a process: its pid in 22 bits, its pid namespace in 9
 * (lives.h), its start time in 32. It is 0 when the slot is free, and has bit 63 while its owner clears it. Only the owner writes the rest of
 * its slot. So what a killed process leaves is ignored as soon as a reader finds the process dead. A process waits for another only to take
 * memory, and never for one that is dead or stopped. */
#ifndef SIM_STATE_H
#define SIM_STATE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "gpu/units.h"

#define SIM_STATE_LAYOUT 0x736c7334u
#define SIM_STATE_SLOTS 512
#define SIM_STATE_SHARES 1024
#define SIM_STATE_HOLDERS 8

typedef struct {
    _Atomic uint64_t busy_until_ns; /* monotonic clock; only grows, by compare-and-swap */
    _Atomic uint64_t busy_total_ns; /* all time ever reserved; the part after now is still to come */
    _Atomic uint64_t last_work_ns;  /* when time was last reserved */
    _Atomic uint64_t sample[2];     /* older and newer (time, used time) in 10 us steps, 32 bits each */
} sim_state_gpu_t;

typedef struct {
    _Atomic uint64_t owner;
    _Atomic uint64_t taken_bytes[SIM_GPUS_MAX];
} sim_state_slot_t;

/* Memory that was exported. It counts in its creator's slot while the creator lives and holds it; from then on here, until
 * no holder is left. Rows change hands only while their writer is the taker of memory. */
typedef struct {
    _Atomic uint64_t key; /* 0: never used; a new one each time the row is used again */
    _Atomic uint64_t bytes;
    _Atomic uint64_t holder[SIM_STATE_HOLDERS]; /* identities; the first is the creator's */
    _Atomic uint32_t gpu;
    _Atomic uint32_t joins; /* how often another process took it */
} sim_state_share_t;

typedef struct {
    _Atomic uint32_t layout; /* SIM_STATE_LAYOUT, set by the first process */
    _Atomic uint32_t slots_used; /* no slot from here on was ever claimed */
    _Atomic uint64_t taker; /* identity of the process that takes memory now, or 0 */
    _Atomic uint32_t shares_used; /* no row from here on was ever used */
    uint32_t reserved[11];
    sim_state_gpu_t gpu[SIM_GPUS_MAX];
    sim_state_slot_t slot[SIM_STATE_SLOTS];
    sim_state_share_t share[SIM_STATE_SHARES];
    _Atomic uint64_t last_user[SIM_GPUS_MAX]; /* the process that reserved time last */
} sim_state_t;

uint64_t sim_state_now(void);
uint64_t sim_state_self(void);
bool sim_state_is_alive(uint64_t identity);
pid_t sim_state_pid(uint64_t identity);

/* A row for memory that this process has taken, joining one and leaving it; the creator gives the bytes back by leaving. */
bool sim_state_share(int gpu, uint64_t bytes, unsigned *row, uint64_t *key);
bool sim_state_join(unsigned row, uint64_t key);
/* True: other processes had it, and no process has it any more. */
bool sim_state_leave(unsigned row, uint64_t key);
bool sim_state_open(void);
bool sim_state_attach(void);
void sim_state_detach(void);
bool sim_state_take(int gpu, uint64_t bytes);
void sim_state_give(int gpu, uint64_t bytes);
/* Takes all memory of this process off the GPUs, and puts it back, all of it or nothing. */
void sim_state_withdraw(uint64_t bytes[SIM_GPUS_MAX]);
bool sim_state_return(const uint64_t bytes[SIM_GPUS_MAX]);
uint64_t sim_state_own_bytes(void);
/* The bytes that this thread gave back since the last call. */
uint64_t sim_state_forget_given(void);
uint64_t sim_state_taken(int gpu);
bool sim_state_process(int gpu, unsigned slot, pid_t *pid, uint64_t *bytes);
/* The next reservation is of this process. True: the GPU is busy then, with another process. */
bool sim_state_changes_user(int gpu, uint64_t ready_ns);
uint64_t sim_state_reserve(int gpu, uint64_t ready_ns, uint64_t duration_ns);
/* Gives back the last part of a reservation that ends at this time. */
void sim_state_cut(int gpu, uint64_t until_ns, uint64_t duration_ns);
unsigned sim_state_busy_percent(int gpu);

#endif
