/* Whole GPUs and MIG instances: their names and sizes, and which of them CUDA shows. */
#define _GNU_SOURCE
#include "gpu/units.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

unsigned sim_units(const sim_settings_t *settings) {
    unsigned count = settings->gpus;
    for (unsigned gpu = 0; gpu < settings->gpus; gpu++) count += settings->instances[gpu];
    return count;
}

int sim_unit_of_instance(const sim_settings_t *settings, int gpu, int instance) {
    int unit = (int)settings->gpus + instance;
    for (int before = 0; before < gpu; before++) unit += (int)settings->instances[before];
    return unit;
}

int sim_unit_gpu(const sim_settings_t *settings, int unit) {
    if (unit < (int)settings->gpus) return unit;
    int gpu = 0;
    while (unit >= sim_unit_of_instance(settings, gpu + 1, 0)) gpu++;
    return gpu;
}

int sim_unit_instance(const sim_settings_t *settings, int unit) {
    return unit < (int)settings->gpus ? -1 : unit - sim_unit_of_instance(settings, sim_unit_gpu(settings, unit), 0);
}

void sim_unit_uuid(const sim_settings_t *settings, int unit, unsigned char bytes[16]) {
    memcpy(bytes, "sluice-sim-gpu", 14);
    bytes[14] = (unsigned char)(sim_unit_instance(settings, unit) + 1);
    bytes[15] = (unsigned char)sim_unit_gpu(settings, unit);
}

void sim_unit_uuid_text(const sim_settings_t *settings, int unit, char text[SIM_UUID_TEXT]) {
    unsigned char bytes[16];
    sim_unit_uuid(settings, unit, bytes);
    char *at = text + sprintf(text, sim_unit_instance(settings, unit) < 0 ? "GPU-" : "MIG-");
    for (int i = 0; i < 16; i++) at += sprintf(at, i == 4 || i == 6 || i == 8 || i == 10 ? "-%02x" : "%02x", bytes[i]);
}

static unsigned parts(const sim_settings_t *settings, int unit) {
    return sim_unit_instance(settings, unit) < 0 ? 1 : settings->instances[sim_unit_gpu(settings, unit)];
}

uint64_t sim_unit_memory(const sim_settings_t *settings, int unit) {
    return settings->memory_bytes / parts(settings, unit) & ~((2ull << 20) - 1);
}

int sim_unit_sms(const sim_settings_t *settings, int unit) {
    int sms = settings->sms / (int)parts(settings, unit);
    return sms ? sms : 1;
}

void sim_unit_name(const sim_settings_t *settings, int unit, char text[64]) {
    if (sim_unit_instance(settings, unit) < 0) sprintf(text, SIM_DEVICE_NAME);
    else sprintf(text, SIM_DEVICE_NAME " MIG %ug.%ugb", SIM_MIG_MOST / parts(settings, unit), (unsigned)(sim_unit_memory(settings, unit) >> 30));
}

/* CUDA's own order: the fastest GPU first, unless CUDA_DEVICE_ORDER says otherwise; a lost one is not there. */
static unsigned order_gpus(const sim_settings_t *settings, const char *order, int gpus[SIM_GPUS_MAX]) {
    unsigned count = 0;
    bool by_bus = order && strcmp(order, "PCI_BUS_ID") == 0;
    for (int pass = 0; pass < 2; pass++)
        for (int gpu = 0; gpu < (int)settings->gpus; gpu++) {
            bool first = !by_bus && gpu == settings->fastest, lost = gpu == settings->lost && !settings->lost_after_ns;
            if (!lost && first == (pass == 0)) gpus[count++] = gpu;
        }
    return count;
}

static int first_unit(const sim_settings_t *settings, int gpu) {
    return settings->instances[gpu] ? sim_unit_of_instance(settings, gpu, 0) : gpu;
}

static bool begins(const char *text, const char *name, size_t length) { return length > 4 && strncmp(text, name, length) == 0; }

/* "GPU-…", "MIG-…", both also only their beginning, or "MIG-GPU-…/instance/0" of older drivers. */
static int unit_with_uuid(const sim_settings_t *settings, const int *gpus, unsigned count, const char *name, size_t length) {
    char text[SIM_UUID_TEXT], old[SIM_UUID_TEXT + 32];
    for (unsigned i = 0; i < count; i++) {
        sim_unit_uuid_text(settings, gpus[i], text);
        if (begins(text, name, length)) return first_unit(settings, gpus[i]);
        for (int instance = 0; instance < (int)settings->instances[gpus[i]]; instance++) {
            int unit = sim_unit_of_instance(settings, gpus[i], instance);
            snprintf(old, sizeof old, "MIG-%s/%d/0", text, instance + 1);
            if (strlen(old) == length && strncmp(old, name, length) == 0) return unit;
            char own[SIM_UUID_TEXT];
            sim_unit_uuid_text(settings, unit, own);
            if (begins(own, name, length)) return unit;
        }
    }
    return -1;
}

/* As the driver does: numbers or (beginnings of) UUIDs; the list ends at the first invalid or repeated entry. */
static void show_list(sim_settings_t *settings, const int *gpus, unsigned count, const char *list) {
    for (const char *name = list; settings->visible < count; name++) {
        size_t length = strcspn(name, ",");
        char *end;
        long number = strtol(name, &end, 10);
        bool numbered = end > name && (size_t)(end - name) == length;
        if (numbered && (number < 0 || number >= (long)count)) return;
        int unit = numbered ? first_unit(settings, gpus[number]) : unit_with_uuid(settings, gpus, count, name, length);
        for (unsigned i = 0; i < settings->visible; i++)
            if (settings->visible_gpu[i] == unit) return;
        if (unit < 0) return;
        settings->visible_gpu[settings->visible++] = unit;
        name += length;
        if (!*name) return;
    }
}

/* A process sees one instance, and beside an instance no whole GPU. */
static void keep_one_instance(sim_settings_t *settings) {
    for (unsigned i = 0; i < settings->visible; i++)
        if (sim_unit_instance(settings, settings->visible_gpu[i]) >= 0) {
            settings->visible_gpu[0] = settings->visible_gpu[i];
            settings->visible = 1;
            return;
        }
}

void sim_units_show(sim_settings_t *settings, const char *list, const char *order) {
    int gpus[SIM_GPUS_MAX];
    unsigned count = order_gpus(settings, order, gpus);
    if (list) show_list(settings, gpus, count, list);
    for (unsigned i = 0; !list && i < count; i++) settings->visible_gpu[settings->visible++] = first_unit(settings, gpus[i]);
    keep_one_instance(settings);
}
