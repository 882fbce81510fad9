/* What the files of the simulated driver share. One lock guards all of it: sim_enter takes it, sim_leave gives it back,
 * sim_unlock and sim_lock open it where foreign code runs or time passes. */
#ifndef SIM_H
#define SIM_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/units.h"
#include "sim_bodies.h"
#include "gpu/state.h"

enum {
    CUDA_SUCCESS = 0,
    CUDA_ERROR_INVALID_VALUE = 1,
    CUDA_ERROR_OUT_OF_MEMORY = 2,
    CUDA_ERROR_NOT_INITIALIZED = 3,
    CUDA_ERROR_DEINITIALIZED = 4,
    CUDA_ERROR_NO_DEVICE = 100, CUDA_ERROR_INVALID_DEVICE = 101,
    CUDA_ERROR_INVALID_IMAGE = 200,
    CUDA_ERROR_INVALID_CONTEXT = 201,
    CUDA_ERROR_UNSUPPORTED_LIMIT = 215,
    CUDA_ERROR_MAP_FAILED = 205,
    CUDA_ERROR_PEER_ACCESS_UNSUPPORTED = 217,
    CUDA_ERROR_INVALID_PTX = 218,
    CUDA_ERROR_FILE_NOT_FOUND = 301,
    CUDA_ERROR_OPERATING_SYSTEM = 304,
    CUDA_ERROR_INVALID_HANDLE = 400,
    CUDA_ERROR_ILLEGAL_STATE = 401,
    CUDA_ERROR_NOT_FOUND = 500,
    CUDA_ERROR_NOT_READY = 600,
    CUDA_ERROR_ILLEGAL_ADDRESS = 700,
    CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED = 704,
    CUDA_ERROR_PEER_ACCESS_NOT_ENABLED = 705,
    CUDA_ERROR_CONTEXT_IS_DESTROYED = 709,
    CUDA_ERROR_TOO_MANY_PEERS = 711,
    CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED = 712,
    CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED = 713,
    CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE = 720,
    CUDA_ERROR_NOT_PERMITTED = 800,
    CUDA_ERROR_NOT_SUPPORTED = 801,
    CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED = 900,
    CUDA_ERROR_STREAM_CAPTURE_INVALIDATED = 901,
    CUDA_ERROR_STREAM_CAPTURE_UNMATCHED = 903,
    CUDA_ERROR_STREAM_CAPTURE_IMPLICIT = 906,
    CUDA_ERROR_CAPTURED_EVENT = 907,
    CUDA_ERROR_UNKNOWN = 999,
};

#define SIM_TRY(call) do { CUresult tried = (call); if (tried) return tried; } while (0)
#define SIM_REQUIRE(condition, error) do { if (!(condition)) return (error); } while (0)
#define SIM_BLOCK (2ull << 20)
#define SIM_ROUND(value, step) (((value) + (step) - 1) / (step) * (step))

void sim_lock(void);
void sim_unlock(void);
pthread_mutex_t *sim_mutex(void);
extern _Thread_local bool sim_on_engine_thread;
bool sim_has_ended(void);
bool sim_entry_is_visible(const sim_entry_t *entry);

/* From the one to the other, new calls wait, except for a few that a locked process may make; quiet: no other call is under way. */
void sim_entry_lock(void);
void sim_entry_unlock(void);
bool sim_entry_is_quiet(void);

/* True: the call ends here with *result. */
bool sim_fault_before(unsigned index, CUresult *result);
void sim_fault_after(unsigned index);
bool sim_fault_is_missing(unsigned index);
bool sim_fault_load(const char *text, char *problem, size_t room);

/* Contexts */
typedef struct sim_range sim_range_t;
typedef struct sim_small sim_small_t;

#define SIM_PEERS_MAX 64

struct CUcontext_opaque {
    CUcontext next;
    int device;
    int group;     /* of channels, see kernel/rm.h; -1: none */
    bool primary;
    bool alive;
    unsigned flags;
    unsigned references; /* retains of a primary context, attaches of a created one */
    unsigned api_version;
    unsigned long long id;
    CUresult error; /* sticky: set by a kernel that went wrong */
    size_t limits[9];
    uint64_t stack_bytes; /* taken for stacks beyond the default */
    uint64_t heap_bytes;  /* taken for the malloc heap, 0 before a kernel needs it */
    bool has_printed;     /* a kernel has used the printf buffer */
    sim_range_t *ranges;     /* everything allocated in it, newest first */
    sim_small_t *small[65];  /* blocks with small allocations, by longest free run in steps of 64 units */
    CUstream streams;        /* created and per-thread ones */
    CUstream legacy;
    unsigned long long peers[SIM_PEERS_MAX]; /* ids of the contexts whose memory it may use */
};

CUresult sim_context_current(CUcontext *context);
CUresult sim_context_error(CUcontext context); /* also of one whose GPU is lost by now */
bool sim_context_is_known(CUcontext context);
CUcontext sim_context_first(void); /* of all that ever were */
bool sim_device_is_known(CUdevice device);
int sim_device_gpu(CUdevice device); /* the unit of a known device */
uint64_t sim_device_memory(CUdevice device);
bool sim_device_is_lost(CUdevice device);
bool sim_device_is_peer(CUdevice device, CUdevice other);
CUdevice sim_device_of_gpu(int gpu); /* -1: CUDA does not show it */

/* Device addresses: one lazily backed range of this process, cut into blocks of 2 MiB */
typedef enum { SIM_FREE, SIM_PLAIN, SIM_SMALL, SIM_MANAGED, SIM_POOL, SIM_RESERVED, SIM_IMPORTED } sim_kind_t;

struct sim_range {
    CUdeviceptr base;
    size_t bytes; /* whole blocks */
    size_t asked;
    sim_kind_t kind;
    bool low;     /* below 4 GiB, for the first generation of the API */
    bool island;  /* a mapping of its own, see space.c */
    int device;
    int file;     /* whose pages it shows, so that other processes can map them; 0: private pages */
    uint64_t taken_bytes; /* of the GPU's memory */
    uint64_t id;
    CUcontext context;
    sim_range_t *next, *previous;
    void *detail; /* by kind: sim_small_t, CUmemoryPool, the mappings of a reservation, sim_import_t */
};

/* One allocation, whatever made it. */
typedef struct {
    CUdeviceptr base;
    size_t bytes;
    sim_range_t *range;
} sim_allocation_t;

sim_range_t *sim_space_take(size_t bytes, size_t alignment, bool low);
/* At this address, if nothing is there; and anywhere outside of what the other calls have to give. Both for whole blocks only. */
sim_range_t *sim_space_take_at(CUdeviceptr start, size_t bytes);
sim_range_t *sim_space_take_island(size_t bytes, size_t alignment);
void sim_space_give(sim_range_t *range);
/* The range shows the pages of this file from now on, and closes it when it is given back. */
bool sim_space_show(sim_range_t *range, int file);
sim_range_t *sim_space_find(CUdeviceptr address);
uint64_t sim_space_next_id(void);

CUresult sim_memory_take(CUcontext context, size_t bytes, bool low, CUdeviceptr *address);
CUresult sim_memory_take_array(CUcontext context, size_t bytes, CUdeviceptr *address);
CUresult sim_memory_give(CUdeviceptr address);
CUresult sim_memory_take_managed(CUcontext context, size_t bytes, CUdeviceptr *address);
CUresult sim_memory_take_import(CUcontext context, int device, size_t bytes, sim_range_t **range);
void sim_memory_give_import(sim_range_t *range);
CUresult sim_memory_give_later(CUstream stream, CUdeviceptr address);
/* After a wait for the one or the other; before: an id from the beginning of the wait. */
void sim_memory_give_waited(CUstream stream, CUcontext context, uint64_t before);
void sim_memory_drop(CUcontext context);
bool sim_memory_has(sim_kind_t kind); /* any range of this kind */
bool sim_memory_find(CUdeviceptr address, sim_allocation_t *allocation);
void sim_memory_touch(CUdeviceptr address);
bool sim_host_find(CUdeviceptr address, CUdeviceptr *base, size_t *bytes, unsigned *flags);
bool sim_pool_find(sim_range_t *range, CUdeviceptr address, sim_allocation_t *allocation);
bool sim_vmm_find(sim_range_t *range, CUdeviceptr address, sim_allocation_t *allocation);

/* What is mapped at an address of a reservation. */
typedef struct {
    CUdeviceptr base;
    size_t bytes;
    int device, handle_types;
    bool usable;                 /* by some device */
    const unsigned char *access; /* of each device */
    uint64_t id, memory_id;      /* of the mapping and of its memory */
} sim_mapped_t;

bool sim_vmm_look(sim_range_t *range, CUdeviceptr address, sim_mapped_t *mapped);
void sim_vmm_hold(CUmemGenericAllocationHandle handle);
void sim_vmm_let_go(CUmemGenericAllocationHandle handle);
bool sim_vmm_has_imports(void);
bool sim_pool_has_imports(void);
void sim_sparse_drop_array(void *array);
void sim_sparse_drop(CUcontext context);
bool sim_vmm_span_is_usable(sim_range_t *range, CUdeviceptr address, size_t bytes);

CUresult sim_pool_default(int device, CUmemoryPool *pool);
CUresult sim_pool_free_now(CUdeviceptr address);
void sim_pool_settle(int device);
void sim_pool_drop(int device);

/* What processes share beyond the state file: files without a name, which others open through /proc while their owner lives. */
int sim_share_file(size_t bytes); /* 0: there is none */
int sim_share_open(uint64_t owner, int file, uint64_t inode);
uint64_t sim_share_inode(int file);
bool sim_share_range(sim_range_t *range); /* moves its contents into a file; nothing may write to it meanwhile */
bool sim_ipc_find(sim_range_t *range, CUdeviceptr address, sim_allocation_t *allocation);

void sim_limits_drop(CUcontext context);

/* Streams, work, waiting */
CUresult sim_context_drain(CUcontext context);
void sim_stream_drop(CUcontext context);

#endif
