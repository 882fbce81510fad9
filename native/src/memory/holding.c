/* holding: what one of the driver's pools holds, and its charge.
 *
 * A pool takes memory in large steps and gives it back when it likes, so what it says it has reserved is what counts.
 * Who may let it grow reserves the growth in the ledger first; afterwards the charge is set to what the pool says. No
 * lock is held while the driver is asked: of two answers the one counts whose ticket was drawn later. */
#include "memory/holding.h"

#include "ledger/ledger.h"
#include "memory/overhead.h"
#include "real.h"
#include "tenant/tenant.h"

#define FIRST_STEP (32ull << 20) /* seen on an H200 with driver 580 */
#define LEAST_STEP (2ull << 20)
#define LARGEST (1ull << 56)
#define UNIT 512u
#define TAKEN_BITS 40
#define TAKEN_MASK ((1ull << TAKEN_BITS) - 1)
#define ATTEMPTS 4

enum { POOL_RESERVED = 5, POOL_USED = 7, GRAPH_USED = 0, GRAPH_RESERVED = 2, CAPTURE_RELAXED = 2 };

void sl_holding_open(sl_holding_t *holding, CUmemoryPool handle, CUdevice device, int gpu) {
    holding->gpu = gpu;
    holding->device = device;
    holding->handle = handle;
    holding->step = FIRST_STEP;
    holding->charged = holding->room = holding->surplus = holding->wanted = holding->promised = 0;
    holding->asleep = false;
}

static sl_ledger_use_t use_of(const sl_holding_t *holding) {
    return holding->handle ? SL_USE_POOL : SL_USE_GRAPH;
}

static bool ask(const sl_holding_t *holding, int pool_attribute, int graph_attribute, uint64_t *bytes) {
    if (holding->handle)
        return real.cuMemPoolGetAttribute &&
               real.cuMemPoolGetAttribute(holding->handle, pool_attribute, bytes) == CUDA_SUCCESS;
    return real.cuDeviceGetGraphMemAttribute &&
           real.cuDeviceGetGraphMemAttribute(holding->device, graph_attribute, bytes) == CUDA_SUCCESS;
}

static bool ask_reserved(const sl_holding_t *holding, uint64_t *bytes) {
    return ask(holding, POOL_RESERVED, GRAPH_RESERVED, bytes);
}

static uint64_t least(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

static uint64_t whole_steps(const sl_holding_t *holding, uint64_t bytes) {
    uint64_t step = holding->step;
    return bytes > LARGEST ? LARGEST : (bytes + step - 1) / step * step;
}

/* Multiples of the true step only show steps that are too large. */
static void learn_step(sl_holding_t *holding, uint64_t reserved) {
    uint64_t step = reserved & -reserved;
    if (step >= LEAST_STEP && step < holding->step)
        holding->step = step;
}

static uint64_t taken_bytes(uint64_t taken) {
    return (taken & TAKEN_MASK) * UNIT;
}

static void end_taking(sl_holding_t *holding, uint64_t bytes) {
    holding->taken += (1ull << TAKEN_BITS) - bytes / UNIT;
}

/* The end is counted first: who no longer sees the bytes then sees that an answer does not count. */
static void end_growing(sl_holding_t *holding, uint64_t bytes) {
    end_taking(holding, 0);
    holding->pending -= bytes;
}

/* Sets the charge to the newest answer and returns by how much the pool grew beyond what was reserved for it. A call that
 * was to let the pool grow may have been given the room that another one took: for that one the promise is kept. */
static uint64_t set_charge(sl_holding_t *holding, uint64_t ticket, uint64_t reserved, const sl_holding_claim_t *claim) {
    unsigned gpu = (unsigned)holding->gpu;
    uint64_t charged = holding->charged, unforeseen = 0;
    holding->wanted -= claim->growth;
    if (claim->room)
        end_taking(holding, claim->room);
    if (claim->growth)
        end_growing(holding, claim->bytes);
    if (ticket > holding->answered) {
        holding->answered = ticket;
        holding->charged = reserved;
        uint64_t grown = reserved > charged ? reserved - charged : 0, foreseen = least(grown, holding->promised);
        holding->promised -= foreseen;
        unforeseen = grown - foreseen;
        if (foreseen)
            sl_ledger_commit(gpu, use_of(holding), foreseen, claim->used);
        if (unforeseen)
            sl_ledger_charge(gpu, use_of(holding), unforeseen);
        if (reserved < charged)
            sl_ledger_refund(gpu, use_of(holding), charged - reserved);
    }
    uint64_t needed = holding->wanted + whole_steps(holding, taken_bytes(holding->taken));
    if (holding->promised > needed) {
        sl_ledger_cancel(gpu, holding->promised - needed);
        holding->promised = needed;
    }
    return unforeseen;
}

static uint64_t follow(sl_holding_t *holding, const sl_holding_claim_t *claim) {
    uint64_t ticket = ++holding->tickets, reserved;
    if (!ask_reserved(holding, &reserved)) {
        ticket = 0;
        reserved = 0;
    }
    learn_step(holding, reserved);
    pthread_mutex_lock(&holding->lock);
    uint64_t unforeseen = set_charge(holding, ticket, reserved, claim);
    pthread_mutex_unlock(&holding->lock);
    return unforeseen;
}

uint64_t sl_holding_used(const sl_holding_t *holding) {
    uint64_t used;
    return ask(holding, POOL_USED, GRAPH_USED, &used) ? used : 0;
}

/* An answer does not count if a call ended since the question: its bytes may be in neither figure. Takers of room count
 * their bytes before they change the room, so they are seen or the exchange fails. Growers may be given room, too: they
 * count themselves and then clear the room, and who published it looks at their count afterwards. */
uint64_t sl_holding_room(sl_holding_t *holding) {
    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
        unsigned growers = holding->growers;
        uint64_t before = holding->taken, used = sl_holding_used(holding), old = holding->room;
        uint64_t pending = holding->pending, taken = holding->taken;
        if (taken >> TAKEN_BITS != before >> TAKEN_BITS)
            continue;
        used += taken_bytes(taken) + pending;
        uint64_t paid = holding->charged - least(holding->charged, holding->surplus), room = paid > used ? paid - used : 0;
        if (!atomic_compare_exchange_strong(&holding->room, &old, room))
            continue;
        if (holding->growers == growers)
            return room;
        holding->room = 0;
    }
    return 0;
}

static bool take_known_room(sl_holding_t *holding, uint64_t bytes) {
    uint64_t room = atomic_load_explicit(&holding->room, memory_order_relaxed);
    if (room < bytes)
        return false;
    holding->taken += bytes / UNIT;
    while (room >= bytes)
        if (atomic_compare_exchange_weak(&holding->room, &room, room - bytes))
            return true;
    end_taking(holding, bytes);
    return false;
}

static bool take_room(sl_holding_t *holding, uint64_t bytes, sl_holding_claim_t *claim) {
    if (!take_known_room(holding, bytes) && (sl_holding_room(holding) < bytes || !take_known_room(holding, bytes)))
        return false;
    claim->room = bytes;
    return true;
}

uint64_t sl_holding_needed(const sl_holding_t *holding, uint64_t used) {
    return least(whole_steps(holding, used), holding->charged);
}

typedef uint64_t (*reserve_t)(unsigned gpu, uint64_t bytes);

static bool claim_by(reserve_t reserve, sl_holding_t *holding, uint64_t bytes, sl_holding_claim_t *claim) {
    claim->growth = whole_steps(holding, bytes);
    claim->used = reserve((unsigned)holding->gpu, claim->growth);
    if (!claim->used) {
        claim->growth = 0;
        return false;
    }
    pthread_mutex_lock(&holding->lock);
    holding->promised += claim->growth;
    holding->wanted += claim->growth;
    pthread_mutex_unlock(&holding->lock);
    claim->bytes = bytes;
    holding->pending += bytes;
    holding->growers++;
    holding->room = 0;
    return true;
}

bool sl_holding_claim(sl_holding_t *holding, uint64_t bytes, sl_holding_claim_t *claim) {
    return claim_by(sl_ledger_reserve, holding, bytes, claim);
}

/* A request may begin in what is left at the pool's end: then the pool grows by less than its size. */
static bool claim_rest(sl_holding_t *holding, uint64_t bytes, sl_holding_claim_t *claim) {
    uint64_t room = holding->room / UNIT * UNIT;
    if (room && room < bytes)
        take_room(holding, room, claim);
    return sl_holding_claim(holding, bytes - claim->room, claim);
}

bool sl_holding_admit(sl_holding_t *holding, uint64_t bytes, sl_holding_claim_t *claim) {
    *claim = (sl_holding_claim_t){0};
    bytes = bytes > LARGEST ? LARGEST : (bytes + UNIT - 1) / UNIT * UNIT;
    if (SL_UNLIKELY(holding->asleep))
        holding->asleep = false;
    if (take_room(holding, bytes, claim) || claim_by(sl_ledger_try, holding, bytes, claim) ||
        take_room(holding, bytes, claim) || claim_rest(holding, bytes, claim))
        return true;
    if (claim->room)
        follow(holding, claim); /* what was promised for its sake goes back */
    return false;
}

uint64_t sl_holding_settle(sl_holding_t *holding, const sl_holding_claim_t *claim) {
    uint64_t reserved;
    if (!claim->growth && !holding->promised && (!ask_reserved(holding, &reserved) || reserved == holding->charged)) {
        if (claim->room)
            end_taking(holding, claim->room);
        return 0;
    }
    uint64_t unforeseen = follow(holding, claim);
    sl_overhead_now_and_then((unsigned)holding->gpu);
    return unforeseen && !sl_ledger_fits((unsigned)holding->gpu) ? unforeseen : 0;
}

/* A capture in another thread may forbid calls that it deems unsafe; this thread takes no part in it. */
static void trim_to(sl_holding_t *holding, uint64_t bytes) {
    CUstreamCaptureMode mode = CAPTURE_RELAXED;
    bool relaxed = real.cuThreadExchangeStreamCaptureMode && real.cuThreadExchangeStreamCaptureMode(&mode) == CUDA_SUCCESS;
    if (!holding->handle && real.cuDeviceGraphMemTrim)
        real.cuDeviceGraphMemTrim(holding->device);
    if (holding->handle && real.cuMemPoolTrimTo)
        real.cuMemPoolTrimTo(holding->handle, bytes);
    if (relaxed)
        real.cuThreadExchangeStreamCaptureMode(&mode);
    atomic_store_explicit(&holding->room, 0, memory_order_relaxed);
    holding->trims++;
}

/* That it grew is left to the call that let it grow: that one may have to give the memory back. */
bool sl_holding_follow(sl_holding_t *holding) {
    static const sl_holding_claim_t nothing;
    uint64_t before = holding->charged, reserved;
    if (!ask_reserved(holding, &reserved) || reserved == before)
        return false;
    if (reserved > before && (holding->pending || taken_bytes(holding->taken)))
        return false;
    atomic_store_explicit(&holding->room, 0, memory_order_relaxed);
    follow(holding, &nothing);
    return holding->charged < before;
}

/* What calls under way have taken of the room must stay, or the pool would grow for them, unreserved. */
bool sl_holding_trim(sl_holding_t *holding) {
    uint64_t room = sl_holding_room(holding), charged = holding->charged;
    if (room < holding->step)
        return false;
    trim_to(holding, charged > room ? charged - room : 0);
    return sl_holding_follow(holding);
}

void sl_holding_shrink(sl_holding_t *holding, uint64_t bytes) {
    uint64_t charged = holding->charged;
    trim_to(holding, charged > bytes ? charged - bytes : 0);
    sl_holding_follow(holding);
    uint64_t gone = charged > holding->charged ? charged - holding->charged : 0;
    holding->surplus = bytes > gone ? bytes - gone : 0;
}

/* Sets the charge without asking; later answers to earlier questions do not count. */
void sl_holding_set(sl_holding_t *holding, uint64_t bytes) {
    static const sl_holding_claim_t nothing;
    pthread_mutex_lock(&holding->lock);
    set_charge(holding, ++holding->tickets, bytes, &nothing);
    pthread_mutex_unlock(&holding->lock);
    atomic_store_explicit(&holding->room, 0, memory_order_relaxed);
}

