/* Exportable handles: a file descriptor stands for the memory, in this process and in any other that gets it. The memory is
 * charged to its creator while the creator holds it, then to the first importer that still does.
 *
 * The descriptor is one of the file of all handles. Its position is that of the label, and the memory follows the label. */
#define _GNU_SOURCE
#include "memory/vmm.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAGIC 0x6d6d762d6d6973ull

typedef struct {
    uint64_t magic, key;
    size_t bytes;
    unsigned row;
    int gpu;
    CUmemAllocationProp properties;
} label_t;

static sim_handle_t *shared;

static int gpu_of(const CUmemAllocationProp *properties) {
    return properties->location.type == 1 ? sim_device_gpu(properties->location.id) : -1;
}

static bool write_label(const sim_handle_t *handle, const label_t *label) {
    return pwrite(sim_vmm_file(handle), label, sizeof *label, handle->offset - SIM_VMM_LABEL_BYTES) == sizeof *label;
}

static bool read_label(int file, label_t *label, off_t *at) {
    struct stat stat;
    *at = lseek(file, 0, SEEK_CUR);
    if (*at < 0 || fstat(file, &stat) || !S_ISREG(stat.st_mode)) return false;
    return pread(file, label, sizeof *label, *at) == sizeof *label && label->magic == MAGIC && label->row < SIM_STATE_SHARES
        && stat.st_size - *at - SIM_VMM_LABEL_BYTES >= (off_t)label->bytes;
}

/* A description of its own, because the position is one of the description. */
static int open_again(int file) {
    char path[32];
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    return open(path, O_RDWR | O_CLOEXEC);
}

static CUresult enter(sim_handle_t *handle) {
    if (handle->shared) return CUDA_SUCCESS;
    int gpu = gpu_of(&handle->properties);
    SIM_REQUIRE(sim_state_share(gpu < 0 ? 0 : gpu, gpu < 0 ? 0 : handle->bytes, &handle->row, &handle->key), CUDA_ERROR_OUT_OF_MEMORY);
    handle->shared = true;
    handle->next = shared;
    shared = handle;
    label_t label = {MAGIC, handle->key, handle->bytes, handle->row, gpu, handle->properties};
    return write_label(handle, &label) ? CUDA_SUCCESS : CUDA_ERROR_OPERATING_SYSTEM;
}

bool sim_vmm_leave(sim_handle_t *handle) {
    bool unused = sim_state_leave(handle->row, handle->key);
    sim_handle_t **each = &shared;
    while (*each != handle) each = &(*each)->next;
    *each = handle->next;
    return unused;
}

bool sim_vmm_has_imports(void) {
    const sim_handle_t *handle = shared;
    while (handle && !handle->imported) handle = handle->next;
    return handle;
}

CUresult sim_cuMemExportToShareableHandle(void *result, CUmemGenericAllocationHandle given, CUmemAllocationHandleType type, unsigned long long flags) {
    sim_handle_t *handle = (sim_handle_t *)given;
    SIM_REQUIRE(result && handle && flags == 0 && handle->properties.requestedHandleTypes, CUDA_ERROR_INVALID_VALUE);
    SIM_REQUIRE(type == SIM_HANDLE_FILE_DESCRIPTOR, CUDA_ERROR_INVALID_VALUE);
    SIM_TRY(enter(handle));
    int file = open_again(sim_vmm_file(handle));
    SIM_REQUIRE(file >= 0, CUDA_ERROR_OPERATING_SYSTEM);
    lseek(file, handle->offset - SIM_VMM_LABEL_BYTES, SEEK_SET);
    *(int *)result = file;
    return CUDA_SUCCESS;
}

static sim_handle_t *known(const label_t *label) {
    sim_handle_t *handle = shared;
    while (handle && (handle->row != label->row || handle->key != label->key)) handle = handle->next;
    return handle;
}

static CUresult import(const label_t *label, int given, off_t at, sim_handle_t **result) {
    CUmemAllocationProp properties = label->properties;
    if (label->gpu >= 0) properties.location.id = sim_device_of_gpu(label->gpu);
    SIM_REQUIRE(properties.location.id >= 0, CUDA_ERROR_INVALID_DEVICE);
    int file = fcntl(given, F_DUPFD_CLOEXEC, 3);
    SIM_REQUIRE(file >= 0, CUDA_ERROR_OPERATING_SYSTEM);
    sim_handle_t *handle = malloc(sizeof *handle);
    if (!handle || !sim_state_join(label->row, label->key)) return free(handle), close(file), CUDA_ERROR_INVALID_VALUE;
    *handle = (sim_handle_t){.references = 1, .bytes = label->bytes, .offset = at + SIM_VMM_LABEL_BYTES, .file = file, .imported = true, .shared = true, .id = sim_space_next_id(),
                             .row = label->row, .key = label->key, .properties = properties, .next = shared};
    *result = shared = handle;
    return CUDA_SUCCESS;
}

/* The descriptor stays the caller's. */
CUresult sim_cuMemImportFromShareableHandle(CUmemGenericAllocationHandle *result, void *given, CUmemAllocationHandleType type) {
    label_t label;
    off_t at;
    SIM_REQUIRE(result, CUDA_ERROR_INVALID_VALUE);
    SIM_REQUIRE(type == SIM_HANDLE_FILE_DESCRIPTOR, CUDA_ERROR_NOT_SUPPORTED);
    SIM_REQUIRE(read_label((int)(intptr_t)given, &label, &at) && label.key, CUDA_ERROR_INVALID_VALUE);
    sim_handle_t *handle = known(&label);
    if (handle) handle->references++;
    else SIM_TRY(import(&label, (int)(intptr_t)given, at, &handle));
    *result = (CUmemGenericAllocationHandle)handle;
    return CUDA_SUCCESS;
}
