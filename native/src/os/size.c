/* size: "10g" and the like as bytes, always powers of 1024. spec/sizes.txt is the table that C and Java both pass. */
#include "os/size.h"

#include <stdio.h>

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

static bool is_space(char c) {
    return c == ' ' || c == '\t';
}

static char lower(char c) {
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

/* k, kb, ki, kib, the same for m, g and t; b alone or nothing for bytes. */
static bool read_unit(const char *text, const char *end, uint64_t *unit) {
    *unit = 1;
    if (text == end)
        return true;
    int power = 0;
    switch (lower(*text)) {
    case 'k': power = 1; break;
    case 'm': power = 2; break;
    case 'g': power = 3; break;
    case 't': power = 4; break;
    }
    *unit <<= 10 * power;
    if (power) {
        text++;
        if (text < end && lower(*text) == 'i')
            text++;
    }
    if (text < end && lower(*text) == 'b')
        text++;
    return text == end;
}

static bool parse(const char *text, size_t length, bool bare, uint64_t *bytes) {
    const char *end = text + length;
    while (text < end && is_space(*text))
        text++;
    while (end > text && is_space(end[-1]))
        end--;
    if (text == end || !is_digit(*text))
        return false;
    unsigned __int128 number = 0, scale = 1;
    const unsigned __int128 most = (unsigned __int128)1 << 80;
    for (; text < end && is_digit(*text); text++)
        if ((number = number * 10 + (unsigned)(*text - '0')) > most)
            return false;
    if (text < end && *text == '.') {
        if (++text == end || !is_digit(*text))
            return false;
        for (; text < end && is_digit(*text); text++) {
            number = number * 10 + (unsigned)(*text - '0');
            scale *= 10;
            if (number > most || scale > most)
                return false;
        }
    }
    while (text < end && is_space(*text))
        text++;
    uint64_t unit;
    if (!read_unit(text, end, &unit) || (text == end && !bare))
        return false;
    unsigned __int128 product = number * unit / scale;
    if (!product || product > INT64_MAX)
        return false;
    *bytes = (uint64_t)product;
    return true;
}

bool sl_size_parse(const char *text, size_t length, uint64_t *bytes) {
    return parse(text, length, false, bytes);
}

bool sl_size_parse_older(const char *text, size_t length, uint64_t *bytes) {
    return parse(text, length, true, bytes);
}

const char *sl_size_format(uint64_t bytes, char text[SL_SIZE_TEXT_BYTES]) {
    unsigned power = 0;
    uint64_t unit = 1, tenths = bytes;
    while (power < 6 && bytes / unit >= 1024) {
        unit <<= 10;
        power++;
    }
    if (power)
        tenths = bytes / unit * 10 + (bytes % unit * 10 + unit / 2) / unit;
    if (power && tenths >= 10240 && power < 6) {
        power++;
        tenths = 10;
    }
    if (!power)
        snprintf(text, SL_SIZE_TEXT_BYTES, "%llu B", (unsigned long long)bytes);
    else
        snprintf(text, SL_SIZE_TEXT_BYTES, "%llu.%llu %ciB", (unsigned long long)(tenths / 10), (unsigned long long)(tenths % 10), " KMGTPE"[power]);
    return text;
}
