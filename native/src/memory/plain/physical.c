/* physical: memory apart from addresses (cuMemCreate): charged until the last handle and the last mapping are gone.
 *
 * The table has only memory that this process made on a GPU. It has no imports, no multicast objects (addresses of memory that is
 * charged elsewhere) and no host memory: their end refunds nothing. An exporter is charged as long as it has a handle or a mapping of
 * its own. This file does not see what importers do with the memory afterwards.
 *
 * A release or an unmap first removes the record from the tables, then asks the driver, then refunds. If the driver refuses, the record
 * is put back. The driver uses numbers of handles again, so sparse.c tells an old handle from a new one by its serial number. */
#include "memory/plain/physical.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "driver/driver.h"
#include "hooks.h"
#include "ledger/charge.h"
#include "memory/ipc/opened.h"
#include "memory/mapped/mapped.h"
#include "memory/overhead.h"
#include "memory/plain/handle.h"
#include "os/fork.h"
#include "os/index.h"
#include "os/mutex.h"
#include "real.h"

#define LOCATION_DEVICE 1

typedef sl_physical_t physical_t;
typedef sl_physical_mapping_t mapping_t;

static sl_mutex_t lock; /* never held around a call of the driver */
static sl_index_t handles = {.record_bytes = sizeof(physical_t)};
static sl_index_t mappings = {.record_bytes = sizeof(mapping_t)};
static uint32_t last_serial;
static uint64_t mapping_step = 1ull << 30; /* all mappings began at multiples of this power of two */

static void refund(const physical_t *physical) {
    sl_handle_forget(physical->handle);
    sl_ledger_refund(physical->gpu, SL_USE_PHYSICAL, physical->bytes);
    sl_ledger_count(physical->gpu, -1);
}

static physical_t *find(uint64_t handle, uint32_t serial) {
    physical_t *physical = sl_index_find(&handles, handle);
    return physical && physical->serial == serial ? physical : NULL;
}

/* With the lock held. True: no handle and no mapping is left. The caller refunds the copy after it releases the lock. */
static bool take_if_unused(physical_t *physical, physical_t *copy) {
    if (physical->references || physical->mappings)
        return false;
    *copy = *physical;
    sl_index_remove(&handles, physical);
    return true;
}

static void add_reference(uint64_t handle) {
    sl_mutex_lock_briefly(&lock);
    physical_t *physical = sl_index_find(&handles, handle);
    if (physical)
        physical->references++;
    sl_mutex_unlock(&lock);
}

/* A handle that is being released. */
typedef struct {
    bool counted;     /* the table had it, with a reference to give up */
    bool gone;        /* that reference was the last */
    physical_t copy;
} release_t;

SL_HOT static release_t drop_reference(uint64_t handle) {
    release_t release = {.counted = false};
    sl_mutex_lock_briefly(&lock);
    physical_t *physical = sl_index_find(&handles, handle);
    if (physical && physical->references) {
        release.counted = true;
        physical->references--;
        release.gone = take_if_unused(physical, &release.copy);
    }
    sl_mutex_unlock(&lock);
    return release;
}

/* With the lock held: puts a removed handle back. False: the driver gave its number to new memory, and the caller refunds the copy. */
static bool put_back(const physical_t *copy) {
    physical_t *physical = sl_index_find(&handles, copy->handle) ? NULL : sl_index_put(&handles, copy->handle);
    if (physical)
        *physical = *copy;
    return physical;
}

static void restore_reference(uint64_t handle, release_t *release) {
    bool kept = true;
    if (release->gone)
        sl_ledger_keep_left(release->copy.gpu, SL_USE_PHYSICAL, release->copy.bytes);
    sl_mutex_lock_briefly(&lock);
    if (release->gone) {
        release->copy.references = 1;
        kept = put_back(&release->copy);
    } else {
        physical_t *physical = sl_index_find(&handles, handle);
        if (physical)
            physical->references++;
    }
    sl_mutex_unlock(&lock);
    if (!kept)
        refund(&release->copy);
}

static uint32_t hold(uint64_t handle) {
    physical_t *physical = sl_index_find(&handles, handle);
    if (!physical)
        return 0;
    physical->mappings++;
    return physical->serial;
}

static bool let_go(uint64_t handle, uint32_t serial, physical_t *copy) {
    physical_t *physical = find(handle, serial);
    if (!physical || !physical->mappings)
        return false;
    physical->mappings--;
    return take_if_unused(physical, copy);
}

uint32_t sl_physical_pin(CUmemGenericAllocationHandle handle) {
    sl_mutex_lock_briefly(&lock);
    uint32_t serial = hold(handle);
    sl_mutex_unlock(&lock);
    return serial;
}

void sl_physical_unpin(CUmemGenericAllocationHandle handle, uint32_t pin) {
    physical_t copy;
    sl_mutex_lock_briefly(&lock);
    bool gone = let_go(handle, pin, &copy);
    sl_mutex_unlock(&lock);
    if (gone)
        refund(&copy);
}

void sl_physical_stay(CUmemGenericAllocationHandle handle) {
    sl_mutex_lock_briefly(&lock);
    physical_t *physical = sl_index_find(&handles, handle);
    if (physical)
        physical->stays = true;
    sl_mutex_unlock(&lock);
}

void sl_physical_stay_at(CUdeviceptr address, uint64_t bytes) {
    sl_mutex_lock_briefly(&lock);
    for (uint64_t place = 0; place < mappings.capacity; place++) {
        const mapping_t *mapping = sl_index_at(&mappings, place);
        bool apart = !mapping || mapping->address >= address + bytes || address >= mapping->address + mapping->bytes;
        physical_t *physical = apart ? NULL : find(mapping->handle, mapping->serial);
        if (physical)
            physical->stays = true;
    }
    sl_mutex_unlock(&lock);
}

bool sl_physical_any_stays(void) {
    bool any = false;
    sl_mutex_lock_briefly(&lock);
    for (uint64_t place = 0; place < handles.capacity && !any; place++) {
        const physical_t *physical = sl_index_at(&handles, place);
        any = physical && physical->stays;
    }
    sl_mutex_unlock(&lock);
    return any;
}

static size_t list_of(const sl_index_t *index, char *list, size_t room) {
    size_t count = 0;
    sl_mutex_lock_briefly(&lock);
    for (uint64_t place = 0; place < index->capacity; place++) {
        const void *record = sl_index_at(index, place);
        if (record && count++ < room)
            memcpy(list + (count - 1) * index->record_bytes, record, index->record_bytes);
    }
    sl_mutex_unlock(&lock);
    return count;
}

size_t sl_physical_handles(sl_physical_t *list, size_t room) {
    return list_of(&handles, (char *)list, room);
}

size_t sl_physical_mappings(sl_physical_mapping_t *list, size_t room) {
    return list_of(&mappings, (char *)list, room);
}

/* If the table still has a handle with this number, that one is gone: the driver has used its number again. */
SL_HOT static bool add(uint64_t handle, unsigned gpu, uint64_t bytes) {
    physical_t old = {.serial = 0};
    sl_mutex_lock_briefly(&lock);
    physical_t *physical = sl_index_put(&handles, handle);
    if (physical) {
        old = *physical;
        last_serial += last_serial == UINT32_MAX ? 2 : 1;
        *physical = (physical_t){handle, bytes, last_serial, 1, 0, (uint16_t)gpu, false};
    }
    sl_mutex_unlock(&lock);
    if (SL_UNLIKELY(old.serial))
        refund(&old);
    return physical;
}

/* A mapping that is out of the table until the driver has unmapped it. */
typedef struct {
    mapping_t mapping;
    bool gone;       /* nothing else holds the memory: it counts as in flight until the driver has freed it */
    physical_t copy; /* if gone */
} taken_t;

typedef struct {
    taken_t *list;
    size_t count, room;
    taken_t near[4];
} unmapping_t;

static bool note(unmapping_t *unmapping, const mapping_t *mapping) {
    if (unmapping->count == unmapping->room) {
        size_t room = unmapping->room * 4;
        bool near = unmapping->list == unmapping->near;
        taken_t *list = near ? malloc(room * sizeof *list) : realloc(unmapping->list, room * sizeof *list);
        if (!list)
            return false;
        for (size_t i = 0; near && i < unmapping->count; i++)
            list[i] = unmapping->near[i];
        unmapping->list = list;
        unmapping->room = room;
    }
    taken_t *taken = &unmapping->list[unmapping->count++];
    taken->mapping = *mapping;
    const physical_t *physical = find(mapping->handle, mapping->serial);
    taken->gone = physical && !physical->references && physical->mappings == 1 && let_go(mapping->handle, mapping->serial, &taken->copy);
    if (taken->gone)
        sl_ledger_leave(taken->copy.gpu, SL_USE_PHYSICAL, taken->copy.bytes);
    return true;
}

/* With the lock held. If there is no memory for the note, the mapping stays in the table: too much is charged, never too little. */
static bool take_out(unmapping_t *unmapping, mapping_t *mapping) {
    if (!note(unmapping, mapping))
        return false;
    sl_index_remove(&mappings, mapping);
    return true;
}

static bool sweep(unmapping_t *unmapping, uint64_t from, uint64_t end) {
    bool any = false;
    for (uint64_t place = 0; place < mappings.capacity; place++) {
        mapping_t *mapping = sl_index_at(&mappings, place);
        if (mapping && mapping->address >= from && mapping->address < end)
            any |= take_out(unmapping, mapping);
    }
    return any;
}

/* Looks at every address where a mapping can begin, or goes through the whole table if that is shorter. */
SL_HOT static void begin_unmapping(unmapping_t *unmapping, uint64_t from, uint64_t bytes) {
    uint64_t end = from + bytes < from ? UINT64_MAX : from + bytes;
    int saved = errno;
    unmapping->list = unmapping->near;
    unmapping->count = 0;
    unmapping->room = sizeof unmapping->near / sizeof *unmapping->near;
    sl_mutex_lock(&lock);
    if ((end - from) / mapping_step > mappings.capacity) {
        while (sweep(unmapping, from, end))
            ; /* again from this place, because a removal moves others */
    } else {
        for (uint64_t at = from; mappings.count && at < end;) {
            at = (at + mapping_step - 1) & ~(mapping_step - 1);
            mapping_t *mapping = at < end && at >= from ? sl_index_find(&mappings, at) : NULL;
            uint64_t next = at + (mapping ? mapping->bytes : mapping_step);
            if (mapping)
                take_out(unmapping, mapping);
            if (next <= at)
                break;
            at = next;
        }
    }
    sl_mutex_unlock(&lock);
    errno = saved;
}

/* Puts a mapping back that the driver did not unmap. */
static void restore_mapping(taken_t *taken) {
    const mapping_t *mapping = &taken->mapping;
    bool kept = true;
    if (taken->gone)
        sl_ledger_keep_left(taken->copy.gpu, SL_USE_PHYSICAL, taken->copy.bytes);
    sl_mutex_lock_briefly(&lock);
    if (taken->gone) {
        taken->copy.mappings = 1;
        kept = put_back(&taken->copy);
    }
    mapping_t *again = sl_index_put(&mappings, mapping->address);
    if (again)
        *again = *mapping;
    sl_mutex_unlock(&lock);
    if (!kept)
        refund(&taken->copy);
}

SL_HOT static void end_unmapping(unmapping_t *unmapping, bool unmapped) {
    for (size_t i = 0; i < unmapping->count; i++) {
        taken_t *taken = &unmapping->list[i];
        if (!unmapped) {
            restore_mapping(taken);
        } else if (taken->gone) {
            sl_handle_forget(taken->copy.handle);
            sl_ledger_refund_left(taken->copy.gpu, taken->copy.bytes);
            sl_ledger_count(taken->copy.gpu, -1);
        } else {
            sl_physical_unpin(taken->mapping.handle, taken->mapping.serial);
        }
    }
    if (unmapping->list != unmapping->near)
        free(unmapping->list);
}

/* The driver maps only into free addresses. So an older entry at the address is of a mapping that ended unseen. */
SL_HOT static void add_mapping(uint64_t address, uint64_t bytes, uint64_t handle) {
    mapping_t old = {.serial = 0};
    sl_mutex_lock_briefly(&lock);
    uint32_t serial = hold(handle);
    mapping_t *mapping = serial ? sl_index_put(&mappings, address) : sl_index_find(&mappings, address);
    if (mapping)
        old = *mapping;
    if (mapping && serial)
        *mapping = (mapping_t){address, bytes, handle, serial};
    else if (mapping)
        sl_index_remove(&mappings, mapping);
    while (serial && address & (mapping_step - 1))
        mapping_step /= 2;
    sl_mutex_unlock(&lock);
    if (SL_UNLIKELY(old.serial))
        sl_physical_unpin(old.handle, old.serial);
    if (SL_UNLIKELY(serial && !mapping))
        sl_physical_unpin(handle, serial);
}

/* Another thread of the parent may have been changing a table, so even unmapping the table is not safe. */
static void forget(void) {
    lock = (sl_mutex_t)SL_MUTEX_INITIALIZER;
    handles = (sl_index_t){.record_bytes = sizeof(physical_t)};
    mappings = (sl_index_t){.record_bytes = sizeof(mapping_t)};
}
SL_FORK_FORGETS(forget);

/* Charges the GPU that the properties name, whatever context is current. */
SL_HOT static CUresult begin(sl_charge_t *charge, const CUmemAllocationProp *prop, uint64_t size) {
    *charge = SL_CHARGE_NONE;
    CUresult status;
    if (!sl_charge_accounts(&status) || !prop || !size || prop->location.type != LOCATION_DEVICE)
        return status;
    return sl_charge_begin(charge, sl_gpu_find(prop->location.id), SL_USE_PHYSICAL, size);
}

SL_HOT CUresult hook_cuMemCreate(CUmemGenericAllocationHandle *handle, size_t size, const CUmemAllocationProp *prop,
                                 unsigned long long flags) {
    if (SL_UNLIKELY(!SL_DRIVER_HAS(cuMemCreate)))
        return CUDA_ERROR_NOT_FOUND;
    sl_charge_t charge;
    CUresult status = begin(&charge, prop, size);
    if (status != CUDA_SUCCESS)
        return status;
    status = real.cuMemCreate(handle, size, prop, flags);
    if (status == CUDA_SUCCESS)
        *handle = sl_handle_made(*handle);
    if (charge.gpu < 0)
        return status;
    unsigned gpu = (unsigned)charge.gpu;
    if (status == CUDA_SUCCESS && add(*handle, gpu, charge.bytes)) {
        sl_charge_commit(&charge);
        sl_ledger_count(gpu, 1);
        sl_overhead_now_and_then(gpu);
    } else {
        sl_charge_cancel(&charge);
    }
    return status;
}

SL_HOT CUresult hook_cuMemRelease(CUmemGenericAllocationHandle handle) {
    if (SL_UNLIKELY(!SL_DRIVER_HAS(cuMemRelease)))
        return CUDA_ERROR_NOT_FOUND;
    uint64_t driven = sl_handle_real(handle);
    release_t release = drop_reference(handle);
    if (release.gone)
        sl_ledger_leave(release.copy.gpu, SL_USE_PHYSICAL, release.copy.bytes);
    CUresult status = real.cuMemRelease(driven);
    if (release.counted && status != CUDA_SUCCESS) {
        restore_reference(handle, &release);
    } else if (release.gone) {
        sl_handle_forget(handle);
        sl_ledger_refund_left(release.copy.gpu, release.copy.bytes);
        sl_ledger_count(release.copy.gpu, -1);
    }
    return status;
}

SL_HOT CUresult hook_cuMemMap(CUdeviceptr ptr, size_t size, size_t offset, CUmemGenericAllocationHandle handle,
                              unsigned long long flags) {
    if (SL_UNLIKELY(!SL_DRIVER_HAS(cuMemMap)))
        return CUDA_ERROR_NOT_FOUND;
    CUresult status = real.cuMemMap(ptr, size, offset, sl_handle_real(handle), flags);
    if (status == CUDA_SUCCESS)
        add_mapping(ptr, size, handle);
    return status;
}

/* The driver reports success even if nothing was mapped there (seen on an H200, driver 580). */
SL_HOT CUresult hook_cuMemUnmap(CUdeviceptr ptr, size_t size) {
    if (SL_UNLIKELY(!SL_DRIVER_HAS(cuMemUnmap)))
        return CUDA_ERROR_NOT_FOUND;
    unmapping_t unmapping;
    begin_unmapping(&unmapping, ptr, size);
    CUresult status = real.cuMemUnmap(ptr, size);
    end_unmapping(&unmapping, status == CUDA_SUCCESS);
    return status;
}

/* The driver returns the same number as cuMemCreate did, and the program must release it once more. */
CUresult hook_cuMemRetainAllocationHandle(CUmemGenericAllocationHandle *handle, void *addr) {
    if (SL_UNLIKELY(!SL_DRIVER_HAS(cuMemRetainAllocationHandle)))
        return CUDA_ERROR_NOT_FOUND;
    if (sl_mapped_has((uint64_t)addr))
        return CUDA_ERROR_INVALID_VALUE; /* the driver's answer for memory of cuMemAlloc */
    CUresult status = real.cuMemRetainAllocationHandle(handle, addr);
    if (status == CUDA_SUCCESS) {
        *handle = sl_handle_name(*handle);
        add_reference(*handle);
    }
    return status;
}

/* The exporter is charged, not the importer. A process that imports its own export gets the same number, and one more reference. */
CUresult hook_cuMemImportFromShareableHandle(CUmemGenericAllocationHandle *handle, void *osHandle,
                                             CUmemAllocationHandleType shHandleType) {
    if (!SL_DRIVER_HAS(cuMemImportFromShareableHandle))
        return CUDA_ERROR_NOT_FOUND;
    CUresult status = real.cuMemImportFromShareableHandle(handle, osHandle, shHandleType);
    if (status == CUDA_SUCCESS) {
        *handle = sl_handle_name(*handle);
        add_reference(*handle);
        sl_opened_note_import();
    }
    return status;
}
