/* size: "10g" and the like as bytes. */
#ifndef SL_SIZE_H
#define SL_SIZE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SL_SIZE_HINT "write it like 512m, 1.5g, 2Gi or 4GB"

#define SL_SIZE_TEXT_BYTES 48

/* Reads length characters of text. Refuses a number without a unit, 0, more than 63 bits, and text that is no size. */
bool sl_size_parse(const char *text, size_t length, uint64_t *bytes);

/* The same as older tools write it: a number alone is bytes. */
bool sl_size_parse_older(const char *text, size_t length, uint64_t *bytes);

/* For people: "512 B", "4.0 GiB". Returns text. */
const char *sl_size_format(uint64_t bytes, char text[SL_SIZE_TEXT_BYTES]);

#endif
