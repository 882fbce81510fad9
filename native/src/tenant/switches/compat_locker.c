/* compat_locker: the switches of culocker (cuda_override.so), whose programs have the GPU one at a time.
 *
 * culocker had one lock for the whole machine, and each process took it. Here the lock is the turn on the GPU's board. Each process is a
 * tenant of its own, and the tenant that waits longest is next. Values are read as culocker read them, invalid ones included. */
#define _GNU_SOURCE
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tenant/switches/compat.h"

#define COUNT "CUDA_OVERRIDE_KERNEL_N_SYNC"
#define MILLIS "CUDA_OVERRIDE_MAX_SYNC_MS"
#define ALWAYS "CUDA_OVERRIDE_ALWAYS_LOCK"
#define SKIPS "CUDA_OVERRIDE_SYNC_LOCK_SKIPS"
#define DEFAULT_COUNT 10u
#define LONGEST_MILLIS 1e9
#define TURN_MICROS 1000000u /* the longest turn there is, because windows end it, not the clock */

static sl_options_windows_t settings;

/* The host program may use a locale whose numbers have a comma. */
static double read_millis(const char *text) {
    locale_t c = newlocale(LC_ALL_MASK, "C", NULL);
    double millis = c ? strtod_l(text, NULL, c) : 0;
    if (c)
        freelocale(c);
    return millis > LONGEST_MILLIS ? LONGEST_MILLIS : millis;
}

static uint64_t at_least_0(const char *text) {
    long number = text ? strtol(text, NULL, 10) : 0;
    return number > 0 ? (uint64_t)number : 0;
}

static void read_settings(void) {
    const char *count = secure_getenv(COUNT), *millis = secure_getenv(MILLIS), *always = secure_getenv(ALWAYS);
    bool counted = count && (strtol(count, NULL, 10) != 0 || strcmp(count, "0") == 0);
    double window = millis ? read_millis(millis) : 0;
    settings = (sl_options_windows_t){
        .mode = always && strcmp(always, "0") != 0 ? SL_WINDOWS_ALWAYS : window > 0 ? SL_WINDOWS_TIME : SL_WINDOWS_COUNT,
        .operations = counted ? at_least_0(count) : DEFAULT_COUNT,
        .window_nanos = window > 0 ? (uint64_t)(window * 1e6) : 0,
        .skips = at_least_0(secure_getenv(SKIPS)),
    };
}

void sl_compat_locker(sl_options_t *options) {
    if (!sl_options_loaded_as("cuda_override.so") && !secure_getenv(COUNT) && !secure_getenv(MILLIS) &&
        !secure_getenv(ALWAYS) && !secure_getenv(SKIPS))
        return;
    read_settings();
    options->shares_source = "culocker's switches";
    options->each_process = true;
    options->windows = &settings;
    options->shares.turns = true;
    options->shares.exclusive = true;
    options->shares.turn_micros = TURN_MICROS;
}
