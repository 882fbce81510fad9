/* refusal: the line about an allocation over the quota: the tenant, the GPU, the sizes, and the command that helps.
 *
 * stderr is the program's, so nothing is written there unless SLUICE_REFUSALS=tell asks for it, as `sluice run` does. */
#include "tenant/refusal.h"

#include <stdatomic.h>
#include <stdio.h>

#include "os/os.h"
#include "os/size.h"
#include "os/report.h"
#include "tenant/switches/options.h"
#include "tenant/tenant.h"

#define APART_NANOS 10000000000ull
#define MIB (1ull << 20)
#define GIB (1ull << 30)

/* How many refusals had no line since the last one; -1: it is too early for another line. */
static long due(void) {
    static _Atomic uint64_t next;
    static atomic_long untold;
    uint64_t now = sl_os_coarse_nanos(), then = next;
    if (now < then || !atomic_compare_exchange_strong(&next, &then, now + APART_NANOS)) {
        untold++;
        return -1;
    }
    return atomic_exchange(&untold, 0);
}

static void copy_name(char name[64]) {
    snprintf(name, 64, "%.63s", sl_tenant.region.header->tenant);
    for (char *at = name; *at; at++)
        if (*at <= ' ' || *at > '~')
            *at = '_';
}

static bool limits_differ(void) {
    const sl_region_limits_t *limits = sl_tenant.region.limits;
    for (int gpu = 1; gpu < 16; gpu++)
        if (limits->memory_bytes[gpu] != limits->memory_bytes[0])
            return true;
    return false;
}

/* The command that makes room, or why there is none. */
static void advise(char advice[192], const char *name, int index, uint64_t needed, uint64_t total) {
    uint64_t unit = needed >= GIB ? GIB : MIB;
    char there[SL_SIZE_TEXT_BYTES], gpu[16] = "";
    if (total && needed > total) {
        snprintf(advice, 192, "the GPU itself has %s", sl_size_format(total, there));
        return;
    }
    if (limits_differ())
        snprintf(gpu, sizeof gpu, "%d=", index);
    snprintf(advice, 192, "'sluice set %s --memory %s%llu%c' raises the limit%s", name, gpu,
             (unsigned long long)((needed + unit - 1) / unit), unit == GIB ? 'g' : 'm',
             sl_tenant.region.agent[0] ? ", if the machine's policy allows it" : "");
}

static void tell(unsigned gpu, uint64_t asked, uint64_t used, uint64_t limit) {
    const sl_region_gpu_t *entry = &sl_tenant.region.gpus[gpu];
    long untold = due();
    if (untold < 0)
        return;
    char name[64], advice[192], more[48] = "", asked_text[SL_SIZE_TEXT_BYTES], used_text[SL_SIZE_TEXT_BYTES], limit_text[SL_SIZE_TEXT_BYTES];
    copy_name(name);
    uint64_t needed = used + asked > limit ? used + asked : limit + asked;
    advise(advice, name, entry->index, needed, entry->total_bytes);
    if (untold)
        snprintf(more, sizeof more, " (and %ld refusals before)", untold);
    sl_report_tell("%s: GPU %d: an allocation of %s was refused, %s of %s are used%s; %s", name, entry->index,
                   sl_size_format(asked, asked_text), sl_size_format(used, used_text), sl_size_format(limit, limit_text), more, advice);
}

void sl_refusal_report(unsigned gpu, uint64_t asked, uint64_t used, uint64_t limit) {
    sl_report(SL_INFO, "memory quota of GPU %d: an allocation of %llu bytes was refused, %llu of %llu are used; raise "
              "the limit or free memory", sl_tenant.region.gpus[gpu].index, (unsigned long long)asked, (unsigned long long)used,
              (unsigned long long)limit);
    if (sl_options_tells_refusals && sl_report_shows(SL_WARN) && !sl_report_shows(SL_INFO) && limit)
        tell(gpu, asked, used, limit);
}
