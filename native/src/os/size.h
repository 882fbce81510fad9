/* size: "10g" and the like as bytes. */
#ifndef SL_SIZE_H
#define SL_SIZE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SL_SIZE_HINT "write it like 512m, 1.5g, 2Gi or 4GB"

/* Reads length characters of text. Nonsense, nothing, 0 and more than fits in 63 bits are refused. */
bool sl_size_parse(const char *text, size_t length, uint64_t *bytes);

#endif
