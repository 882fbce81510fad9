/* channels: see channels.h. */
#include "slices/channels.h"

#include <stdatomic.h>
#include <string.h>
#include <sys/stat.h>

#include "os/fork.h"
#include "os/mutex.h"
#include "os/os.h"

#define OBJECTS 4096u
#define BITS 1024u /* a bit for the handle of each object: most calls that free something free none of them */

typedef struct {
    uint32_t client, parent, handle, class;
    uint64_t device, own_micros;
    int fd;
} object_t;

static sl_mutex_t lock;
static object_t objects[OBJECTS];
static unsigned count;
static bool lost; /* an object found no room */
static _Atomic unsigned version;
static _Atomic uint64_t bits[BITS / 64];

static bool is_client(uint32_t class) {
    return class == 0x0 || class == 0x1 || class == 0x41;
}

static bool is_channel(uint32_t class) {
    return (class & 0xff) == 0x6f && class > 0xc000 && class <= 0xffff;
}

static bool is_of_interest(uint32_t class) {
    return class == SL_RM_GROUP || class == SL_RM_SUBDEVICE || class == SL_RM_DEVICE || is_channel(class) || is_client(class);
}

static unsigned bit_of(uint32_t handle) {
    return (handle * 0x9e3779b9u >> 22) % BITS;
}

static bool may_know(uint32_t handle) {
    unsigned bit = bit_of(handle);
    return atomic_load_explicit(&bits[bit / 64], memory_order_relaxed) >> (bit % 64) & 1;
}

static object_t *find(uint32_t client, uint32_t handle) {
    for (unsigned i = 0; i < count; i++)
        if (objects[i].client == client && objects[i].handle == handle)
            return &objects[i];
    return NULL;
}

static void remove_at(unsigned place) {
    objects[place] = objects[--count];
    for (unsigned i = 0; i < BITS / 64 && !count; i++)
        atomic_store(&bits[i], 0);
}

/* An object takes those below it along: a client its devices, a device its groups, a group its channels. */
static void remove_tree(uint32_t client, uint32_t handle) {
    for (unsigned i = 0; i < count;) {
        object_t object = objects[i];
        bool below = object.parent == handle && object.handle != handle;
        if (object.client != client || (object.handle != handle && !below)) {
            i++;
            continue;
        }
        remove_at(i);
        if (below)
            remove_tree(client, object.handle);
        i = below ? 0 : i;
    }
}

static void put(const object_t *object) {
    unsigned bit = bit_of(object->handle);
    object_t *there = find(object->client, object->handle);
    if (!there && count == OBJECTS) {
        lost = true;
        return;
    }
    *(there ? there : &objects[count++]) = *object;
    atomic_fetch_or(&bits[bit / 64], 1ull << (bit % 64));
    atomic_fetch_add(&version, 1);
}

static void allocated(int fd, const void *parameters, uint32_t bytes) {
    sl_rm_alloc_t call;
    sl_rm_alloc_long_t longer;
    memcpy(&call, parameters, sizeof call);
    uint32_t status = call.status;
    if (bytes >= sizeof longer) {
        memcpy(&longer, parameters, sizeof longer);
        status = longer.status;
    }
    if (status != SL_RM_OK || !is_of_interest(call.class))
        return;
    struct stat file = {0};
    if (call.class == SL_RM_GROUP && !sl_os_stat(fd, &file))
        return;
    uint32_t client = is_client(call.class) ? call.object : call.client;
    object_t object = {.client = client, .parent = call.parent, .handle = call.object, .class = call.class, .device = file.st_rdev, .fd = fd};
    sl_mutex_lock_briefly(&lock);
    put(&object);
    sl_mutex_unlock(&lock);
}

static void controlled(const void *parameters) {
    sl_rm_control_t call;
    sl_rm_slice_t slice;
    memcpy(&call, parameters, sizeof call);
    if (call.command != SL_RM_SET_SLICE || call.status != SL_RM_OK || call.bytes < sizeof slice || !call.parameters)
        return;
    memcpy(&slice, (const void *)(uintptr_t)call.parameters, sizeof slice);
    sl_mutex_lock_briefly(&lock);
    object_t *group = find(call.client, call.object);
    if (group && group->class == SL_RM_GROUP) {
        group->own_micros = slice.micros;
        atomic_fetch_add(&version, 1);
    }
    sl_mutex_unlock(&lock);
}

void sl_channels_freeing(uint32_t escape, const void *parameters, uint32_t bytes) {
    sl_rm_free_t call;
    if (escape != SL_RM_FREE || bytes < sizeof call)
        return;
    memcpy(&call, parameters, sizeof call);
    if (!may_know(call.object))
        return;
    sl_mutex_lock_briefly(&lock);
    remove_tree(call.client ? call.client : call.object, call.object);
    sl_mutex_unlock(&lock);
}

void sl_channels_called(int fd, uint32_t escape, const void *parameters, uint32_t bytes) {
    if (escape == SL_RM_ALLOC && bytes >= sizeof(sl_rm_alloc_t))
        allocated(fd, parameters, bytes);
    else if (escape == SL_RM_CONTROL && bytes == sizeof(sl_rm_control_t))
        controlled(parameters);
}

/* With the lock held. */
static bool describe(sl_channels_group_t *group, const object_t *object) {
    *group = (sl_channels_group_t){.fd = object->fd, .device = object->device, .client = object->client, .group = object->handle,
                                   .own_micros = object->own_micros};
    for (unsigned i = 0; i < count; i++) {
        const object_t *other = &objects[i];
        if (other->client != object->client)
            continue;
        if (other->class == SL_RM_SUBDEVICE && other->parent == object->parent)
            group->subdevice = other->handle;
        if (!is_channel(other->class) || other->parent != object->handle)
            continue;
        if (group->count == SL_RM_CHANNELS)
            return false;
        group->channels[group->count++] = other->handle;
    }
    return true;
}

bool sl_channels_read(sl_channels_group_t groups[SL_CHANNELS_GROUPS], unsigned *found) {
    bool ok = true;
    *found = 0;
    sl_mutex_lock_briefly(&lock);
    for (unsigned i = 0; i < count && ok; i++) {
        if (objects[i].class != SL_RM_GROUP || !objects[i].own_micros)
            continue;
        ok = *found < SL_CHANNELS_GROUPS && describe(&groups[*found], &objects[i]);
        *found += ok;
    }
    ok = ok && !lost;
    sl_mutex_unlock(&lock);
    return ok;
}

static bool has(const sl_channels_group_t *group, uint32_t channel) {
    for (unsigned i = 0; i < group->count; i++)
        if (group->channels[i] == channel)
            return true;
    return false;
}

/* With the lock held. */
static void find_channels(sl_channels_group_t *group, const sl_channels_group_t *before) {
    for (unsigned i = 0; i < before->count; i++) {
        const object_t *channel = find(before->client, before->channels[i]);
        if (channel && channel->parent == before->group && is_channel(channel->class))
            group->channels[group->count++] = channel->handle;
    }
    for (unsigned i = 0; i < count && group->count < SL_RM_CHANNELS; i++)
        if (objects[i].client == before->client && objects[i].parent == before->group && is_channel(objects[i].class) && !has(group, objects[i].handle))
            group->channels[group->count++] = objects[i].handle;
}

bool sl_channels_find(sl_channels_group_t *group) {
    sl_channels_group_t before = *group;
    sl_mutex_lock_briefly(&lock);
    const object_t *object = find(group->client, group->group);
    bool found = object && object->class == SL_RM_GROUP && object->fd == group->fd && object->device == group->device;
    if (found) {
        group->count = 0;
        find_channels(group, &before);
    }
    sl_mutex_unlock(&lock);
    return found;
}

unsigned sl_channels_version(void) {
    return atomic_load_explicit(&version, memory_order_acquire);
}

void sl_channels_renew(void) {
    atomic_fetch_add(&version, 1);
}

void sl_channels_drop(void) {
    sl_mutex_lock_briefly(&lock);
    count = 0;
    lost = false;
    for (unsigned i = 0; i < BITS / 64; i++)
        atomic_store(&bits[i], 0);
    atomic_fetch_add(&version, 1);
    sl_mutex_unlock(&lock);
}

/* The child's copies of the descriptors are of no use to it. */
static void forget(void) {
    lock = (sl_mutex_t)SL_MUTEX_INITIALIZER;
    count = 0;
    lost = false;
    for (unsigned i = 0; i < BITS / 64; i++)
        atomic_store(&bits[i], 0);
}
SL_FORK_FORGETS(forget);
