/* nvtx: the program's ranges and marks go to the trace.
 *
 * A program that uses NVTX asks the library that NVTX_INJECTION64_PATH names for functions to call. A range is written when
 * it ends, by the thread that ends it. Ranges that began before the trace, or in another, are not recorded. Handles for texts and
 * domains are never freed, because programs have few of them and use them from any thread. */
#define _GNU_SOURCE
#include "trace/nvtx.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "trace/trace.h"

#define DEPTH 64u
#define RANGES 4096u
#define TEXT_BYTES 1024

/* A text or a domain that the program registered. */
typedef struct {
    char text[1];
} registered_t;

typedef struct {
    const void *trace; /* in which it began; NULL: in none */
    uint64_t begin_ticks, name;
    const registered_t *domain;
} range_t;

static __thread __attribute__((tls_model("initial-exec"))) struct {
    range_t *ranges; /* that were pushed, in all domains; the memory is the thread's for ever */
    unsigned depth;
} stack;

static struct {
    _Atomic uint64_t id; /* 0 = free, 1 = being filled */
    range_t range;
} started[RANGES];
static _Atomic uint64_t starts; /* the child of a fork keeps both: it has another trace, so ranges of the parent are not recorded */

/* Converts to UTF-8, and cuts off the rest that does not fit. */
static const char *narrow(const wchar_t *wide, char text[TEXT_BYTES]) {
    size_t at = 0;
    for (; wide && *wide && at + 4 < TEXT_BYTES; wide++) {
        uint32_t c = (uint32_t)*wide;
        if (c < 0x80) {
            text[at++] = (char)c;
        } else if (c < 0x800) {
            text[at++] = (char)(0xc0 | c >> 6);
            text[at++] = (char)(0x80 | (c & 0x3f));
        } else {
            if (c >= 0x10000)
                text[at++] = (char)(0xf0 | (c >> 18 & 7));
            text[at++] = (char)(c >= 0x10000 ? 0x80 | (c >> 12 & 0x3f) : 0xe0 | (c >> 12 & 0xf));
            text[at++] = (char)(0x80 | (c >> 6 & 0x3f));
            text[at++] = (char)(0x80 | (c & 0x3f));
        }
    }
    text[at] = 0;
    return text;
}

static const char *text_of(const sl_nvtx_attributes_t *attributes, char buffer[TEXT_BYTES]) {
    enum { MESSAGE_END = 48 };
    if (!attributes || attributes->size < MESSAGE_END || !attributes->message)
        return "";
    switch (attributes->message_type) {
    case SL_NVTX_ASCII:
        return attributes->message;
    case SL_NVTX_UNICODE:
        return narrow(attributes->message, buffer);
    case SL_NVTX_REGISTERED:
        return ((const registered_t *)attributes->message)->text;
    default:
        return "";
    }
}

static range_t begin(const registered_t *domain, const char *text) {
    const void *trace = sl_trace_is_on() ? sl_trace_now() : NULL;
    return (range_t){trace, trace ? sl_clock_ticks() : 0, trace ? sl_trace_name(text ? text : "") : 0, domain};
}

static uint64_t domain_name(const registered_t *domain) {
    return domain ? sl_trace_name(domain->text) : 0;
}

static void end(const range_t *range, unsigned depth, bool nested) {
    if (range->trace && sl_trace_is_on() && range->trace == sl_trace_now())
        sl_trace_range(range->begin_ticks, range->name, domain_name(range->domain), depth, nested);
}

static void mark(const registered_t *domain, const char *text) {
    if (sl_trace_is_on())
        sl_trace_mark(sl_trace_name(text ? text : ""), domain_name(domain));
}

static unsigned depth_in(const registered_t *domain) {
    unsigned depth = 0;
    for (unsigned i = 0; i < stack.depth && i < DEPTH; i++)
        depth += stack.ranges[i].domain == domain;
    return depth;
}

/* Ranges deeper than DEPTH are counted, so that their ends match, but not recorded. */
static int push(const registered_t *domain, const char *text) {
    if (!stack.ranges && !(stack.ranges = calloc(DEPTH, sizeof *stack.ranges)))
        return -1;
    int depth = (int)depth_in(domain);
    if (stack.depth < DEPTH)
        stack.ranges[stack.depth] = begin(domain, text);
    stack.depth++;
    return depth;
}

static int pop(const registered_t *domain) {
    if (stack.depth > DEPTH)
        return stack.depth--, (int)DEPTH;
    unsigned at = stack.depth;
    while (at > 0 && stack.ranges[at - 1].domain != domain)
        at--;
    if (at == 0)
        return -1;
    range_t range = stack.ranges[at - 1];
    memmove(&stack.ranges[at - 1], &stack.ranges[at], (stack.depth - at) * sizeof range);
    stack.depth--;
    unsigned depth = depth_in(domain);
    end(&range, depth, true);
    return (int)depth;
}

/* 0: too many ranges are open. An id is never used twice, so a second end of a range has no effect. */
static uint64_t start(const registered_t *domain, const char *text) {
    range_t range = begin(domain, text);
    for (unsigned i = 0; range.trace && i < 64; i++) {
        uint64_t id = atomic_fetch_add(&starts, 1) + RANGES, none = 0;
        if (atomic_compare_exchange_strong(&started[id % RANGES].id, &none, 1)) {
            started[id % RANGES].range = range;
            atomic_store_explicit(&started[id % RANGES].id, id, memory_order_release);
            return id;
        }
    }
    return 0;
}

static void finish(uint64_t id) {
    uint64_t expected = id;
    range_t range = started[id % RANGES].range;
    if (id >= RANGES && atomic_compare_exchange_strong(&started[id % RANGES].id, &expected, 0))
        end(&range, 0, false);
}

static const registered_t *keep(const char *text) {
    size_t length = strnlen(text ? text : "", TEXT_BYTES);
    registered_t *kept = calloc(1, sizeof *kept + length);
    if (kept && text)
        memcpy(kept->text, text, length);
    return kept;
}

static void mark_ex(const sl_nvtx_attributes_t *attributes) { char b[TEXT_BYTES]; mark(NULL, text_of(attributes, b)); }
static void mark_a(const char *text) { mark(NULL, text); }
static void mark_w(const wchar_t *text) { char b[TEXT_BYTES]; mark(NULL, narrow(text, b)); }
static uint64_t start_ex(const sl_nvtx_attributes_t *attributes) { char b[TEXT_BYTES]; return start(NULL, text_of(attributes, b)); }
static uint64_t start_a(const char *text) { return start(NULL, text); }
static uint64_t start_w(const wchar_t *text) { char b[TEXT_BYTES]; return start(NULL, narrow(text, b)); }
static int push_ex(const sl_nvtx_attributes_t *attributes) { char b[TEXT_BYTES]; return push(NULL, text_of(attributes, b)); }
static int push_a(const char *text) { return push(NULL, text); }
static int push_w(const wchar_t *text) { char b[TEXT_BYTES]; return push(NULL, narrow(text, b)); }
static int pop_default(void) { return pop(NULL); }

static void domain_mark(const registered_t *domain, const sl_nvtx_attributes_t *attributes) {
    char b[TEXT_BYTES];
    mark(domain, text_of(attributes, b));
}

static uint64_t domain_start(const registered_t *domain, const sl_nvtx_attributes_t *attributes) {
    char b[TEXT_BYTES];
    return start(domain, text_of(attributes, b));
}

static void domain_end(const registered_t *domain, uint64_t id) {
    (void)domain;
    finish(id);
}

static int domain_push(const registered_t *domain, const sl_nvtx_attributes_t *attributes) {
    char b[TEXT_BYTES];
    return push(domain, text_of(attributes, b));
}

static const registered_t *register_a(const registered_t *domain, const char *text) { return (void)domain, keep(text); }
static const registered_t *register_w(const registered_t *domain, const wchar_t *text) { char b[TEXT_BYTES]; return (void)domain, keep(narrow(text, b)); }
static const registered_t *create_a(const char *text) { return keep(text); }
static const registered_t *create_w(const wchar_t *text) { char b[TEXT_BYTES]; return keep(narrow(text, b)); }

#define FUNCTION(function) ((sl_nvtx_function_t)(void *)(function))

static void fill(const sl_nvtx_callbacks_t *callbacks, int module, sl_nvtx_function_t const functions[], unsigned count) {
    sl_nvtx_function_t **table = NULL;
    unsigned size = 0;
    if (!callbacks->functions_of(module, &table, &size) || !table)
        return;
    for (unsigned i = 0; i < count && i < size; i++)
        if (functions[i] && table[i])
            *table[i] = functions[i];
}

SL_EXPORT int InitializeInjectionNvtx2(const void *(*export_table)(uint32_t id)) {
    sl_nvtx_function_t const core[SL_NVTX_CORE_SIZE] = {
        [SL_NVTX_MARK_EX] = FUNCTION(mark_ex), [SL_NVTX_MARK_A] = FUNCTION(mark_a), [SL_NVTX_MARK_W] = FUNCTION(mark_w),
        [SL_NVTX_START_EX] = FUNCTION(start_ex), [SL_NVTX_START_A] = FUNCTION(start_a), [SL_NVTX_START_W] = FUNCTION(start_w),
        [SL_NVTX_END] = FUNCTION(finish), [SL_NVTX_PUSH_EX] = FUNCTION(push_ex), [SL_NVTX_PUSH_A] = FUNCTION(push_a),
        [SL_NVTX_PUSH_W] = FUNCTION(push_w), [SL_NVTX_POP] = FUNCTION(pop_default)};
    sl_nvtx_function_t const core2[SL_NVTX_CORE2_SIZE] = {
        [SL_NVTX_DOMAIN_MARK] = FUNCTION(domain_mark), [SL_NVTX_DOMAIN_START] = FUNCTION(domain_start),
        [SL_NVTX_DOMAIN_END] = FUNCTION(domain_end), [SL_NVTX_DOMAIN_PUSH] = FUNCTION(domain_push),
        [SL_NVTX_DOMAIN_POP] = FUNCTION(pop), [SL_NVTX_REGISTER_A] = FUNCTION(register_a),
        [SL_NVTX_REGISTER_W] = FUNCTION(register_w), [SL_NVTX_CREATE_A] = FUNCTION(create_a), [SL_NVTX_CREATE_W] = FUNCTION(create_w)};
    const sl_nvtx_callbacks_t *callbacks = export_table ? export_table(SL_NVTX_CALLBACKS) : NULL;
    if (!callbacks || callbacks->struct_bytes < sizeof *callbacks || !callbacks->functions_of)
        return 0;
    fill(callbacks, SL_NVTX_CORE, core, SL_NVTX_CORE_SIZE);
    fill(callbacks, SL_NVTX_CORE2, core2, SL_NVTX_CORE2_SIZE);
    return 1;
}
