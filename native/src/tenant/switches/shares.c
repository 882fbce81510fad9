/* shares: "25%", "5ms" and the like as numbers. spec/shares.txt is the table that C and Java both pass. */
#define _GNU_SOURCE
#include "tenant/switches/shares.h"

#include <string.h>
#include <strings.h>

#define MOST_WEIGHT 1000u
#define LEAST_TURN_MICROS 100u
#define MOST_TURN_MICROS 1000000u

/* The rest of a text that is being read. */
typedef struct {
    const char *at, *end;
} text_t;

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

static bool is_space(char c) {
    return c == ' ' || c == '\t';
}

static text_t trimmed(const char *text, size_t length) {
    text_t rest = {text, text + length};
    while (rest.at < rest.end && is_space(*rest.at))
        rest.at++;
    while (rest.end > rest.at && is_space(rest.end[-1]))
        rest.end--;
    return rest;
}

static bool is_word(text_t text, const char *word, int (*compare)(const char *, const char *, size_t)) {
    size_t length = (size_t)(text.end - text.at);
    return strlen(word) == length && compare(text.at, word, length) == 0;
}

/* Reads digits, with or without a point, as so many parts of one; smaller parts are cut off. */
static bool read_parts(text_t *text, uint64_t parts, uint64_t most, uint64_t *number) {
    uint64_t digits = 0, scale = 1;
    if (text->at == text->end || !is_digit(*text->at))
        return false;
    bool after_point = false;
    for (; text->at < text->end && (is_digit(*text->at) || (*text->at == '.' && !after_point)); text->at++) {
        if (*text->at == '.') {
            after_point = true;
            continue;
        }
        if (scale >= 1000000000u) { /* smaller than any part that counts */
            digits |= *text->at != '0';
            continue;
        }
        digits = digits * 10 + (uint64_t)(*text->at - '0');
        scale *= after_point ? 10 : 1;
        if (digits > most * scale)
            return false;
    }
    unsigned __int128 product = (unsigned __int128)digits * parts;
    *number = (uint64_t)(product / scale);
    return text->at[-1] != '.' && product <= most * scale;
}

static bool read_percent(const char *text, size_t length, bool bare, uint32_t *permille) {
    text_t rest = trimmed(text, length);
    uint64_t number;
    if (!read_parts(&rest, SL_SHARES_WHOLE / 100, SL_SHARES_WHOLE, &number) || !number)
        return false;
    rest = trimmed(rest.at, (size_t)(rest.end - rest.at));
    bool is_signed = rest.at < rest.end && *rest.at == '%';
    *permille = (uint32_t)number;
    return (is_signed || bare) && rest.at + is_signed == rest.end;
}

bool sl_shares_read_percent(const char *text, size_t length, uint32_t *permille) {
    return read_percent(text, length, false, permille);
}

bool sl_shares_read_older_percent(const char *text, size_t length, uint32_t *permille) {
    return read_percent(text, length, true, permille);
}

static bool read_cap(const char *text, size_t length, uint32_t *permille) {
    if (!sl_shares_read_percent(text, length, permille))
        return false;
    *permille %= SL_SHARES_WHOLE;
    return true;
}

/* "0=25%": the number of a GPU and its cap. */
static bool read_one_cap(text_t part, uint32_t permille[SL_SHARES_GPUS], unsigned *seen) {
    unsigned gpu = 0;
    text_t rest = trimmed(part.at, (size_t)(part.end - part.at));
    const char *digits = rest.at;
    for (; rest.at < rest.end && is_digit(*rest.at) && gpu < SL_SHARES_GPUS; rest.at++)
        gpu = gpu * 10 + (unsigned)(*rest.at - '0');
    if (rest.at == digits || gpu >= SL_SHARES_GPUS || *seen & 1u << gpu)
        return false;
    *seen |= 1u << gpu;
    rest = trimmed(rest.at, (size_t)(rest.end - rest.at));
    if (rest.at == rest.end || *rest.at != '=')
        return false;
    return read_cap(rest.at + 1, (size_t)(rest.end - rest.at - 1), &permille[gpu]);
}

bool sl_shares_read_compute(const char *text, uint32_t permille[SL_SHARES_GPUS]) {
    memset(permille, 0, SL_SHARES_GPUS * sizeof *permille);
    if (!strchr(text, '=')) {
        uint32_t all;
        if (!read_cap(text, strlen(text), &all))
            return false;
        for (int gpu = 0; gpu < SL_SHARES_GPUS; gpu++)
            permille[gpu] = all;
        return true;
    }
    unsigned seen = 0;
    for (const char *part = text, *end; part; part = *end ? end + 1 : NULL) {
        end = strchrnul(part, ',');
        if (!read_one_cap((text_t){part, end}, permille, &seen))
            return false;
    }
    return true;
}

bool sl_shares_read_weight(const char *text, uint32_t *weight) {
    text_t rest = trimmed(text, strlen(text));
    uint64_t number;
    if (memchr(rest.at, '.', (size_t)(rest.end - rest.at)) || !read_parts(&rest, 1, MOST_WEIGHT, &number) || !number)
        return false;
    *weight = (uint32_t)number;
    return rest.at == rest.end;
}

bool sl_shares_read_priority(const char *text, int32_t *priority) {
    static const char *const words[] = {"low", "normal", "high"};
    text_t rest = trimmed(text, strlen(text));
    for (int i = 0; i < 3; i++)
        if (is_word(rest, words[i], strncmp)) {
            *priority = i - 1;
            return true;
        }
    return false;
}

bool sl_shares_read_exclusive(const char *text, bool *exclusive) {
    static const char *const words[] = {"0", "1", "false", "true", "no", "yes", "off", "on"};
    text_t rest = trimmed(text, strlen(text));
    for (unsigned i = 0; i < sizeof words / sizeof *words; i++)
        if (is_word(rest, words[i], strncasecmp)) {
            *exclusive = i % 2;
            return true;
        }
    return false;
}

bool sl_shares_read_turn(const char *text, uint32_t *micros) {
    static const struct {
        const char *unit;
        uint64_t micros;
    } units[] = {{"us", 1}, {"ms", 1000}, {"s", 1000000}};
    for (unsigned i = 0; i < sizeof units / sizeof *units; i++) {
        text_t rest = trimmed(text, strlen(text));
        uint64_t number;
        if (!read_parts(&rest, units[i].micros, MOST_TURN_MICROS, &number) || number < LEAST_TURN_MICROS)
            continue;
        rest = trimmed(rest.at, (size_t)(rest.end - rest.at));
        if (!is_word(rest, units[i].unit, strncmp))
            continue;
        *micros = (uint32_t)number;
        return true;
    }
    return false;
}

bool sl_shares_any_cap(const sl_shares_t *shares) {
    bool any = false;
    for (int gpu = 0; gpu < SL_SHARES_GPUS; gpu++)
        any |= shares->compute_permille[gpu] != 0;
    return any;
}

bool sl_shares_any(const sl_shares_t *shares) {
    return shares->turns || sl_shares_any_cap(shares);
}

void sl_shares_cap_every_gpu(sl_shares_t *shares, uint32_t permille) {
    for (int gpu = 0; gpu < SL_SHARES_GPUS; gpu++)
        shares->compute_permille[gpu] = permille % SL_SHARES_WHOLE;
}
