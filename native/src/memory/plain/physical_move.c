/* physical_move: memory of handles (cuMemCreate) leaves the GPU and comes back with the same addresses, access and numbers of handles.
 *
 * A piece is one handle, mapped at any number of places. A piece records what the driver has of it at any moment, so every step may
 * fail: fill() and empty() continue where an earlier call stopped. If the GPU has read and write access to the memory at no address, this
 * file maps it at an address of its own for the copy. Memory that another process, another device or a sparse array may use stays. */
#include <stdlib.h>
#include <string.h>

#include "driver/entry.h"
#include "ledger/ledger.h"
#include "memory/movable.h"
#include "memory/plain/handle.h"
#include "memory/plain/physical.h"
#include "os/fork.h"
#include "real.h"
#include "tenant/gpu.h"

enum { LOCATION_DEVICE = 1, READ_WRITE = 3 };

typedef struct {
    uint64_t address, bytes;
    bool mapped;
    bool accessible; /* the access is set */
    uint8_t access[SL_GPU_DEVICES]; /* of each device */
} place_t;

typedef struct {
    uint64_t handle;     /* the program's number */
    uint64_t real;       /* the driver's; 0: the driver has the memory back */
    uint64_t bytes;
    uint32_t references; /* of the program */
    uint32_t held;       /* references that the driver counts now */
    unsigned gpu;
    CUmemAllocationProp prop;
    place_t *places;     /* our own address is the last */
    size_t count;
    uint64_t copied_at;
    bool reserved;       /* that address is ours */
} piece_t;

/* A mapping or a handle of ours that the driver failed to end. It keeps memory that the program frees, so this file tries again later. */
typedef struct {
    uint64_t address, bytes;
    bool mapped;
    uint64_t real;
    uint32_t held;
} leftover_t;

#define LEFTOVERS 64

static leftover_t leftovers[LEFTOVERS];
static size_t leftover_count;
static piece_t *pieces;
static place_t *places;
static size_t piece_count;
static int devices; /* that the program sees */

static bool can(void) {
    return real.cuMemCreate && real.cuMemRelease && real.cuMemMap && real.cuMemUnmap && real.cuMemSetAccess && real.cuMemGetAccess &&
           real.cuMemRetainAllocationHandle && real.cuMemAddressReserve && real.cuMemAddressFree && real.cuDeviceGetCount &&
           real.cuMemGetAllocationPropertiesFromHandle;
}

static CUresult set_access(const place_t *place) {
    CUmemAccessDesc list[SL_GPU_DEVICES];
    size_t count = 0;
    for (int device = 0; device < devices; device++)
        if (place->access[device])
            list[count++] = (CUmemAccessDesc){{LOCATION_DEVICE, device}, place->access[device]};
    return count ? real.cuMemSetAccess(place->address, place->bytes, list, count) : CUDA_SUCCESS;
}

static CUresult map(const piece_t *piece, place_t *place) {
    CUresult status = CUDA_SUCCESS;
    if (!place->mapped)
        status = real.cuMemMap(place->address, place->bytes, 0, piece->real, 0);
    place->mapped |= status == CUDA_SUCCESS;
    if (status == CUDA_SUCCESS && !place->accessible)
        status = set_access(place);
    place->accessible |= status == CUDA_SUCCESS;
    return status;
}

static CUresult unmap(place_t *place) {
    CUresult status = place->mapped ? real.cuMemUnmap(place->address, place->bytes) : CUDA_SUCCESS;
    if (status == CUDA_SUCCESS)
        place->mapped = place->accessible = false;
    return status;
}

static CUresult retain(piece_t *piece) {
    CUmemGenericAllocationHandle again;
    for (size_t i = 0; i < piece->count; i++) {
        if (!piece->places[i].mapped)
            continue;
        CUresult status = real.cuMemRetainAllocationHandle(&again, (void *)piece->places[i].address);
        if (status == CUDA_SUCCESS && !piece->held++)
            piece->real = again; /* the program has no handle, so it never saw the number */
        return status;
    }
    return CUDA_ERROR_INVALID_VALUE;
}

static CUresult release(piece_t *piece) {
    CUresult status = real.cuMemRelease(piece->real);
    piece->held -= status == CUDA_SUCCESS;
    return status;
}

/* The driver has the memory: maps it everywhere, and counts as many handles as the program has. */
static CUresult fill(piece_t *piece) {
    CUresult status = CUDA_SUCCESS;
    if (!piece->held)
        status = retain(piece);
    for (size_t i = 0; i < piece->count && status == CUDA_SUCCESS; i++)
        status = map(piece, &piece->places[i]);
    while (piece->held < piece->references && status == CUDA_SUCCESS)
        status = retain(piece);
    while (piece->held > piece->references && status == CUDA_SUCCESS)
        status = release(piece);
    return status;
}

/* Releases the handle last: while it exists, everything can be mapped again. */
static CUresult empty(piece_t *piece) {
    CUresult status = piece->held ? CUDA_SUCCESS : retain(piece);
    for (size_t i = 0; i < piece->count && status == CUDA_SUCCESS; i++)
        status = unmap(&piece->places[i]);
    while (piece->held && status == CUDA_SUCCESS)
        status = release(piece);
    if (status == CUDA_SUCCESS)
        piece->real = 0;
    return status;
}

static CUresult empty_and_refund(piece_t *piece) {
    sl_ledger_leave(piece->gpu, SL_USE_PHYSICAL, piece->bytes);
    CUresult status = empty(piece);
    if (piece->real)
        sl_ledger_keep_left(piece->gpu, SL_USE_PHYSICAL, piece->bytes);
    else
        sl_ledger_refund_left(piece->gpu, piece->bytes);
    return status;
}

static CUresult give(size_t number) {
    piece_t *piece = &pieces[number];
    if (!piece->real)
        return CUDA_SUCCESS;
    CUresult status = empty_and_refund(piece);
    if (status != CUDA_SUCCESS)
        fill(piece);
    return status;
}

static CUresult create(piece_t *piece) {
    uint64_t used = sl_ledger_try(piece->gpu, piece->bytes);
    if (!used)
        return CUDA_ERROR_OUT_OF_MEMORY;
    CUmemGenericAllocationHandle made;
    CUresult status = real.cuMemCreate(&made, piece->bytes, &piece->prop, 0);
    if (status == CUDA_SUCCESS && !sl_handle_exchange(piece->handle, made)) {
        real.cuMemRelease(made);
        status = CUDA_ERROR_OUT_OF_MEMORY;
    }
    if (status != CUDA_SUCCESS) {
        sl_ledger_cancel(piece->gpu, piece->bytes);
        return status;
    }
    sl_ledger_commit(piece->gpu, SL_USE_PHYSICAL, piece->bytes, used);
    piece->real = made;
    piece->held = 1;
    return CUDA_SUCCESS;
}

static CUresult take(size_t number) {
    piece_t *piece = &pieces[number];
    CUresult status = piece->real ? CUDA_SUCCESS : create(piece);
    if (status != CUDA_SUCCESS)
        return status;
    status = fill(piece);
    if (status != CUDA_SUCCESS)
        empty_and_refund(piece);
    return status;
}

static int by_handle(const void *a, const void *b) {
    const sl_physical_mapping_t *x = a, *y = b;
    if (x->handle != y->handle)
        return x->handle < y->handle ? -1 : 1;
    return x->address < y->address ? -1 : x->address > y->address;
}

/* The first mapping of the handle in the sorted list. */
static size_t first_of(const sl_physical_mapping_t *list, size_t count, uint64_t handle) {
    size_t low = 0;
    for (size_t high = count; low < high;) {
        size_t middle = low + (high - low) / 2;
        if (list[middle].handle < handle)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool describe_place(place_t *place, const sl_physical_mapping_t *mapping) {
    *place = (place_t){.address = mapping->address, .bytes = mapping->bytes, .mapped = true, .accessible = true};
    for (int device = 0; device < devices; device++) {
        CUmemLocation location = {LOCATION_DEVICE, device};
        unsigned long long flags = 0;
        if (real.cuMemGetAccess(&flags, &location, mapping->address) != CUDA_SUCCESS)
            return false;
        place->access[device] = (uint8_t)flags;
    }
    return true;
}

static bool map_for_the_copy(piece_t *piece) {
    place_t *own = &piece->places[piece->count];
    CUdeviceptr address;
    if (real.cuMemAddressReserve(&address, piece->bytes, 0, 0, 0) != CUDA_SUCCESS)
        return false;
    *own = (place_t){.address = address, .bytes = piece->bytes};
    own->access[piece->prop.location.id] = READ_WRITE;
    CUresult status = piece->held ? CUDA_SUCCESS : retain(piece);
    if (status == CUDA_SUCCESS)
        status = map(piece, own);
    if (piece->held > piece->references)
        release(piece);
    piece->count++;
    piece->reserved = true;
    piece->copied_at = address;
    return status == CUDA_SUCCESS;
}

static bool let_go_of(leftover_t *leftover) {
    if (leftover->mapped && real.cuMemUnmap(leftover->address, leftover->bytes) == CUDA_SUCCESS)
        leftover->mapped = false;
    if (!leftover->mapped && leftover->address && real.cuMemAddressFree(leftover->address, leftover->bytes) == CUDA_SUCCESS)
        leftover->address = 0;
    if (leftover->held && real.cuMemRelease(leftover->real) == CUDA_SUCCESS)
        leftover->held = 0;
    return !leftover->address && !leftover->held;
}

static void let_go_of_leftovers(void) {
    size_t kept = 0;
    for (size_t i = 0; i < leftover_count; i++)
        if (!let_go_of(&leftovers[i]))
            leftovers[kept++] = leftovers[i];
    leftover_count = kept;
}

/* Ends the mapping and the handle that were made for the copy. */
static void unprepare(piece_t *piece) {
    const place_t *own = &piece->places[piece->count - 1];
    leftover_t leftover = {.real = piece->real, .held = piece->real && piece->held > piece->references};
    if (piece->reserved)
        leftover = (leftover_t){own->address, own->bytes, own->mapped, leftover.real, leftover.held};
    if ((leftover.address || leftover.held) && !let_go_of(&leftover) && leftover_count < LEFTOVERS)
        leftovers[leftover_count++] = leftover;
    piece->count -= piece->reserved;
    piece->reserved = false;
}

/* The piece may use the places from room on. False: the memory stays on the GPU. */
static bool describe(piece_t *piece, const sl_physical_t *physical, place_t *room, const sl_physical_mapping_t *list, size_t count) {
    *piece = (piece_t){.handle = physical->handle, .real = sl_handle_real(physical->handle), .bytes = physical->bytes,
                       .references = physical->references, .held = physical->references, .gpu = physical->gpu, .places = room};
    if (physical->stays || (!physical->references && !physical->mappings))
        return false;
    for (size_t i = first_of(list, count, physical->handle); i < count && list[i].handle == physical->handle; i++) {
        if (list[i].serial != physical->serial)
            continue;
        if (!describe_place(&room[piece->count], &list[i]))
            return false;
        piece->count++;
    }
    if (piece->count != physical->mappings) /* a sparse array maps it, too */
        return false;
    if (!piece->references && retain(piece) != CUDA_SUCCESS)
        return false;
    CUresult status = real.cuMemGetAllocationPropertiesFromHandle(&piece->prop, piece->real);
    if (piece->held > piece->references)
        release(piece);
    int device = piece->prop.location.id;
    if (status != CUDA_SUCCESS || piece->prop.location.type != LOCATION_DEVICE || device < 0 || device >= devices)
        return false;
    for (size_t i = 0; i < piece->count && !piece->copied_at; i++)
        if (room[i].bytes == piece->bytes && room[i].access[device] == READ_WRITE)
            piece->copied_at = room[i].address;
    return piece->copied_at || map_for_the_copy(piece);
}

static void settle(void) {
    for (size_t i = 0; i < piece_count; i++)
        unprepare(&pieces[i]);
    free(pieces);
    free(places);
    pieces = NULL;
    places = NULL;
    piece_count = 0;
}

static void describe_all(const sl_physical_t *handles, size_t handle_count, sl_physical_mapping_t *mappings, size_t mapping_count) {
    qsort(mappings, mapping_count, sizeof *mappings, by_handle);
    place_t *room = places;
    for (size_t i = 0; i < handle_count; i++) {
        piece_t *piece = &pieces[piece_count];
        if (!describe(piece, &handles[i], room, mappings, mapping_count)) {
            unprepare(piece);
            continue;
        }
        room += piece->count;
        piece_count++;
    }
}

static size_t count(void) {
    settle();
    let_go_of_leftovers();
    if (!can() || real.cuDeviceGetCount(&devices) != CUDA_SUCCESS)
        return 0;
    devices = devices > SL_GPU_DEVICES ? SL_GPU_DEVICES : devices;
    size_t handle_count = sl_physical_handles(NULL, 0), mapping_count = sl_physical_mappings(NULL, 0);
    if (!handle_count)
        return 0;
    sl_physical_t *handles = malloc(handle_count * sizeof *handles);
    sl_physical_mapping_t *mappings = malloc((mapping_count + 1) * sizeof *mappings);
    pieces = malloc(handle_count * sizeof *pieces);
    places = malloc((handle_count + mapping_count) * sizeof *places);
    if (handles && mappings && pieces && places) {
        sl_physical_handles(handles, handle_count);
        sl_physical_mappings(mappings, mapping_count);
        describe_all(handles, handle_count, mappings, mapping_count);
    }
    free(handles);
    free(mappings);
    return piece_count;
}

static sl_movable_t piece(size_t number) {
    const piece_t *of = &pieces[number];
    return (sl_movable_t){of->copied_at, of->bytes, NULL, of->gpu};
}

static void forget(void) {
    leftover_count = 0;
    pieces = NULL;
    places = NULL;
    piece_count = 0;
}
SL_FORK_FORGETS(forget);

const sl_movable_source_t sl_physical_movable = {
    .name = "memory of handles",
    .count = count,
    .piece = piece,
    .give = give,
    .take = take,
    .settle = settle,
};
