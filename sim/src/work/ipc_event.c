/* Events that several processes record and wait for: how often they were recorded and reached lies in a shared file. Other
 * processes do not wake the engine, so it looks again and again. Recordings of a process that died count as reached. */
#include "work/work.h"

#include <stdatomic.h>
#include <sys/mman.h>
#include <unistd.h>

#define MAGIC 0x746e65766d6973ull
#define PAGE 4096u
#define LOOK_FOR_DEAD_NS 1000000u

struct sim_event_shared {
    _Atomic uint64_t recordings, completed;
    _Atomic uint64_t recorder; /* identity of the process that recorded it last */
};

typedef struct {
    uint64_t magic, owner, inode;
    int file;
    unsigned flags;
} ticket_t;

static bool map(CUevent event, int file) {
    void *page = file ? mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0) : MAP_FAILED;
    if (page == MAP_FAILED) return false;
    event->shared = page;
    event->file = file;
    return true;
}

bool sim_event_share(CUevent event) {
    int file = sim_share_file(PAGE);
    if (map(event, file)) return true;
    if (file) close(file);
    return false;
}

void sim_event_unshare(CUevent event) {
    if (!event->shared) return;
    munmap(event->shared, PAGE);
    close(event->file);
}

uint64_t sim_event_recordings(CUevent event) {
    return event->shared ? atomic_load(&event->shared->recordings) : event->recordings;
}

uint64_t sim_event_next_recording(CUevent event) {
    if (!event->shared) return ++event->recordings;
    uint64_t recording = atomic_fetch_add(&event->shared->recordings, 1) + 1;
    atomic_store(&event->shared->recorder, sim_state_self());
    return recording;
}

void sim_event_reach(CUevent event, uint64_t recording, uint64_t time_ns) {
    if (recording > event->completed) {
        event->completed = recording;
        event->time_ns = time_ns;
    }
    uint64_t before = event->shared ? atomic_load(&event->shared->completed) : UINT64_MAX;
    while (before < recording && !atomic_compare_exchange_weak(&event->shared->completed, &before, recording)) continue;
}

uint64_t sim_event_completed(CUevent event) {
    if (!event->shared) return event->completed;
    uint64_t asked = atomic_load(&event->shared->recordings), reached = atomic_load(&event->shared->completed), now = sim_state_now();
    uint64_t recorder = atomic_load(&event->shared->recorder);
    if (reached >= asked || recorder == sim_state_self() || now - event->looked_ns < LOOK_FOR_DEAD_NS) return reached;
    event->looked_ns = now;
    if (recorder && !sim_state_is_alive(recorder)) sim_event_reach(event, asked, now);
    return atomic_load(&event->shared->completed);
}

CUresult sim_cuIpcGetEventHandle(CUipcEventHandle *handle, CUevent event) {
    CUcontext context;
    SIM_REQUIRE(handle, CUDA_ERROR_INVALID_VALUE);
    SIM_TRY(sim_context_current(&context));
    SIM_REQUIRE(event && event->shared, CUDA_ERROR_INVALID_HANDLE);
    ticket_t ticket = {MAGIC, sim_state_self(), sim_share_inode(event->file), event->file, event->flags};
    memset(handle, 0, sizeof *handle);
    memcpy(handle, &ticket, sizeof ticket);
    return CUDA_SUCCESS;
}

CUresult sim_cuIpcOpenEventHandle(CUevent *result, CUipcEventHandle handle) {
    CUcontext context;
    ticket_t ticket;
    memcpy(&ticket, &handle, sizeof ticket);
    SIM_REQUIRE(result, CUDA_ERROR_INVALID_VALUE);
    SIM_TRY(sim_context_current(&context));
    SIM_REQUIRE(ticket.magic == MAGIC, CUDA_ERROR_INVALID_HANDLE);
    SIM_REQUIRE(ticket.owner != sim_state_self(), CUDA_ERROR_INVALID_CONTEXT);
    int file = sim_share_open(ticket.owner, ticket.file, ticket.inode);
    SIM_REQUIRE(file, CUDA_ERROR_INVALID_HANDLE);
    CUevent event = calloc(1, sizeof *event);
    if (!event || !map(event, file)) return free(event), close(file), CUDA_ERROR_MAP_FAILED;
    event->context = context;
    event->flags = ticket.flags;
    *result = event;
    return CUDA_SUCCESS;
}
