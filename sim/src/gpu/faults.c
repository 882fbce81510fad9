/* Faults on demand: SLUICE_SIM_FAULTS=symbol[@nth|@nth+|%each]=code|kill-before|kill-after|missing|sleep:50ms|sticky:700, comma
 * separated. It happens at the nth call only, from the nth call on, at each so many calls, or at every call. */
#define _GNU_SOURCE
#include "entry/sim.h"

#include <ctype.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

typedef enum { RETURN, KILL_BEFORE, KILL_AFTER, MISSING, SLEEP, STICKY } action_t;

typedef struct {
    unsigned index;
    unsigned nth;  /* 0: always */
    bool repeats;  /* with every nth call */
    bool lasts;    /* from the nth call on */
    action_t action;
    CUresult code;
    uint64_t sleep_ns;
    _Atomic unsigned calls;
} fault_t;

static fault_t faults[32];
static unsigned count;
static bool has_fault[SIM_ENTRY_COUNT];
static _Thread_local bool kill_after;
static _Thread_local CUresult sticky_after;
static _Atomic CUresult sticky; /* what calls return that need a context whose work had an error */

static bool parse_code(const char *text, fault_t *fault) {
    char *end;
    fault->code = (CUresult)strtoul(text, &end, 10);
    return isdigit((unsigned char)*text) && *end == 0 && fault->code < 1000;
}

static bool parse_action(const char *text, fault_t *fault) {
    if (parse_code(text, fault)) return fault->action = RETURN, true;
    if (strncmp(text, "sticky:", 7) == 0) return fault->action = STICKY, parse_code(text + 7, fault) && fault->code;
    if (strcmp(text, "kill-before") == 0) return fault->action = KILL_BEFORE, true;
    if (strcmp(text, "kill-after") == 0) return fault->action = KILL_AFTER, true;
    if (strcmp(text, "missing") == 0) return fault->action = MISSING, fault->nth == 0;
    fault->action = SLEEP;
    return strncmp(text, "sleep:", 6) == 0 && sim_settings_duration(text + 6, &fault->sleep_ns);
}

static const char *parse(char *item, fault_t *fault) {
    char *action = strchr(item, '='), *nth = strpbrk(item, "@%"), *end = "";
    if (!action) return "'=' is missing";
    *action++ = 0;
    if (nth) {
        fault->repeats = *nth == '%';
        *nth++ = 0;
        fault->nth = (unsigned)strtoul(nth, &end, 10);
        fault->lasts = !fault->repeats && *end == '+' && end++;
        if (!isdigit((unsigned char)*nth) || *end || fault->nth == 0) return "the call after '@' or '%' must be 1, 2, ... (or 1+, 2+, ... after '@')";
    }
    for (fault->index = 0; fault->index < SIM_ENTRY_COUNT; fault->index++)
        if (strcmp(sim_entries[fault->index].symbol, item) == 0) break;
    if (fault->index == SIM_ENTRY_COUNT) return "no such symbol";
    return parse_action(action, fault) ? NULL : "not one of code, kill-before, kill-after, missing (at every call), sleep:50ms, sticky:code";
}

bool sim_fault_load(const char *text, char *problem, size_t room) {
    char copy[sizeof sim_settings()->faults], *rest = copy, *item;
    snprintf(copy, sizeof copy, "%s", text);
    while ((item = strsep(&rest, ","))) {
        if (*item == 0) continue;
        char shown[80];
        snprintf(shown, sizeof shown, "%s", item);
        const char *wrong = count == sizeof faults / sizeof *faults ? "too many faults" : parse(item, &faults[count]);
        if (wrong) return snprintf(problem, room, "'%s': %s", shown, wrong), count = 0, false;
        has_fault[faults[count++].index] = true;
    }
    return true;
}

bool sim_fault_is_missing(unsigned index) {
    if (!has_fault[index]) return false;
    for (unsigned i = 0; i < count; i++)
        if (faults[i].index == index && faults[i].action == MISSING) return true;
    return false;
}

static bool is_due(const fault_t *fault, unsigned call) {
    if (!fault->nth) return true;
    if (fault->repeats) return call % fault->nth == 0;
    return fault->lasts ? call >= fault->nth : call == fault->nth;
}

/* All contexts of the process are taken for one. */
static bool needs_context(const char *symbol) {
    static const char *const kinds[] = {"cuMem", "cuStream", "cuEvent", "cuLaunch", "cuGraph", "cuModule", "cuArray", "cuCtxSynchronize"};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strncmp(symbol, kinds[i], strlen(kinds[i])) == 0) return true;
    return false;
}

bool sim_fault_before(unsigned index, CUresult *result) {
    CUresult code = sticky;
    if (code && needs_context(sim_entries[index].symbol)) return *result = code, true;
    if (!has_fault[index]) return false;
    bool ends = false;
    for (fault_t *fault = faults; fault < faults + count; fault++) {
        if (fault->index != index) continue;
        unsigned call = atomic_fetch_add(&fault->calls, 1) + 1;
        if (!is_due(fault, call)) continue;
        if (fault->action == KILL_BEFORE) kill(getpid(), SIGKILL);
        if (fault->action == KILL_AFTER) kill_after = true;
        if (fault->action == STICKY) sticky_after = fault->code;
        if (fault->action == SLEEP) {
            struct timespec pause = {(time_t)(fault->sleep_ns / 1000000000u), (long)(fault->sleep_ns % 1000000000u)};
            nanosleep(&pause, NULL);
        }
        if (fault->action == RETURN) *result = fault->code, ends = true;
    }
    return ends;
}

void sim_fault_after(unsigned index) {
    if (has_fault[index] && kill_after) kill(getpid(), SIGKILL);
    if (has_fault[index] && sticky_after) sticky = sticky_after;
}
