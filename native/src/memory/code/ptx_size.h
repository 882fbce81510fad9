/* ptx_size: how much memory the global variables take that a PTX text declares. */
#ifndef SL_PTX_SIZE_H
#define SL_PTX_SIZE_H

#include <stddef.h>
#include <stdint.h>

uint64_t sl_ptx_size(const char *text, size_t length);

#endif
