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
    uint64_t all_bytes;  /* with code and constants; for PTX the data alone, because the rest is not known */
    const char *ptx;     /* the text, if the image is PTX: then data_bytes is an upper bound; the linker shows the size */
    size_t ptx_length;
} sl_code_size_t;

/* Reads from the image what it takes on a GPU of this compute capability (90 for 9.0). length is SIZE_MAX if only the image itself
 * tells it. The size of a compressed image, or of an unknown kind, is not known. */
sl_code_size_t sl_code_size(const void *image, size_t length, unsigned capability);

#endif
