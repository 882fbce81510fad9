/* code_size: how much memory an image of code takes when it is loaded: a cubin, a fat binary, or PTX. */
#ifndef SL_CODE_SIZE_H
#define SL_CODE_SIZE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SL_CODE_SIZE_MOST (1ull << 48)

typedef struct {
    bool known;
    uint64_t data_bytes; /* global variables */
    uint64_t all_bytes;  /* with code and constants; of PTX not known, so data alone */
    const char *ptx;     /* the text, where the image is PTX: then data_bytes is a bound that the linker may lower */
    size_t ptx_length;
} sl_code_size_t;

/* Reads what the driver takes from the image on a GPU of this compute capability (90 for 9.0). The length is SIZE_MAX where
 * only the image itself tells it. Not known: compressed, or of an unknown kind. */
sl_code_size_t sl_code_size(const void *image, size_t length, unsigned capability);

#endif
