/* ptx_size: how much memory the global variables take that a PTX text declares.
 *
 * A declaration is `[.visible …] .global [.align N] [.v2 …] TYPE name[N][M] [= …], name…;`. An .extern one takes nothing here. Unused
 * variables, which the compiler leaves out, count too: the sum is an upper bound. */
#define _GNU_SOURCE
#include "memory/code/ptx_size.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "memory/code/code_size.h"

typedef struct {
    const char *at, *end;
} text_t;

static uint64_t times(uint64_t a, uint64_t b) {
    return a && b > SL_CODE_SIZE_MOST / a ? SL_CODE_SIZE_MOST : a * b;
}

static bool is_name(char letter) {
    return isalnum((unsigned char)letter) || letter == '_' || letter == '$' || letter == '%';
}

static void skip_past(text_t *text, const char *mark) {
    const char *found = memmem(text->at, (size_t)(text->end - text->at), mark, strlen(mark));
    text->at = found ? found + strlen(mark) : text->end;
}

/* Spaces and comments. */
static void skip_space(text_t *text) {
    while (text->at < text->end) {
        if (isspace((unsigned char)*text->at))
            text->at++;
        else if (text->end - text->at > 1 && text->at[0] == '/' && text->at[1] == '/')
            skip_past(text, "\n");
        else if (text->end - text->at > 1 && text->at[0] == '/' && text->at[1] == '*')
            skip_past(text, "*/");
        else
            return;
    }
}

/* The next word: a name, with its point if it begins with one, or a single character; "" at the end. */
static size_t word(text_t *text, const char **start) {
    skip_space(text);
    *start = text->at;
    if (text->at < text->end && *text->at++ == '"')
        skip_past(text, "\"");
    else if (text->at > *start && (is_name(**start) || **start == '.'))
        while (text->at < text->end && is_name(*text->at))
            text->at++;
    return (size_t)(text->at - *start);
}

static bool is(const char *start, size_t length, const char *what) {
    return length == strlen(what) && memcmp(start, what, length) == 0;
}

static uint64_t number(const char *start, size_t length) {
    char digits[32] = "";
    memcpy(digits, start, length < sizeof digits ? length : sizeof digits - 1);
    uint64_t value = strtoull(digits, NULL, 0);
    return value < SL_CODE_SIZE_MOST ? value : SL_CODE_SIZE_MOST;
}

/* ".b8" has 1 byte, ".v4" means 4 of the type that follows, ".texref" is a handle; 0: no type. */
static uint64_t type_bytes(const char *start, size_t length) {
    if (is(start, length, ".texref") || is(start, length, ".samplerref") || is(start, length, ".surfref"))
        return 8;
    if (is(start, length, ".bf16x2") || is(start, length, ".f16x2"))
        return 4;
    if (is(start, length, ".bf16"))
        return 2;
    return length > 2 && strchr("bfsu", start[1]) && isdigit((unsigned char)start[2]) ? number(start + 2, length - 2) / 8 : 0;
}

/* Reads on after a name: its dimensions and its initial value, up to the comma or semicolon. */
static uint64_t elements(text_t *text, bool *last) {
    uint64_t count = 1, values = 1;
    bool open_ended = false;
    const char *start;
    int depth = 0;
    for (size_t length; (length = word(text, &start));) {
        if (*start == '[' && !depth) {
            length = word(text, &start);
            open_ended |= *start == ']';
            count = times(count, *start == ']' ? 1 : number(start, length));
        }
        depth += *start == '{';
        depth -= *start == '}';
        values += *start == ',' && depth > 0;
        *last = *start == ';';
        if (*last || (*start == ',' && depth <= 0))
            return open_ended ? times(count, values) : count;
    }
    *last = true;
    return count;
}

/* Reads on after ".global". */
static uint64_t declaration(text_t *text) {
    uint64_t element = 0, vector = 1, sum = 0;
    const char *start;
    for (size_t length; (length = word(text, &start));) {
        if (is(start, length, ".align")) {
            word(text, &start);
        } else if (length == 3 && start[1] == 'v' && start[0] == '.') {
            vector = number(start + 2, 1);
        } else if (*start == '.') {
            uint64_t bytes = type_bytes(start, length);
            element = bytes ? bytes : element;
        } else if (!is_name(*start) || !element) {
            return sum; /* ".ptr .global" of a parameter, or part of an instruction */
        } else {
            bool last;
            uint64_t bytes = times(times(element, vector), elements(text, &last));
            sum = sum + bytes < SL_CODE_SIZE_MOST ? sum + bytes : SL_CODE_SIZE_MOST;
            if (last)
                return sum;
        }
    }
    return sum;
}

uint64_t sl_ptx_size(const char *text, size_t length) {
    text_t rest = {text, text + length};
    uint64_t sum = 0;
    const char *start;
    bool is_extern = false;
    for (size_t found; (found = word(&rest, &start)) && sum < SL_CODE_SIZE_MOST;) {
        bool begins = start == text || !is_name(start[-1]);
        if (is(start, found, ".global") && begins && !is_extern)
            sum += declaration(&rest);
        if (*start != '.' || is(start, found, ".global"))
            is_extern = false;
        is_extern |= is(start, found, ".extern");
    }
    return sum < SL_CODE_SIZE_MOST ? sum : SL_CODE_SIZE_MOST;
}
