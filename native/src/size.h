/* size: "10g" and the like as bytes. */
#ifndef SL_SIZE_H
#define SL_SIZE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Reads length characters of text. Nonsense, nothing, 0 and more than fits in 63 bits are refused. */
bool sl_size_parse(const char *text, size_t length, uint64_t *bytes);

#endif
