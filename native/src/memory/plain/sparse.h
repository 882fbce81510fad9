/* sparse: memory that is mapped into arrays without memory (cuMemMapArrayAsync). */
#ifndef SL_SPARSE_H
#define SL_SPARSE_H

#include <stdint.h>

/* The array is gone, and so is everything that was mapped into it. */
void sl_sparse_array_gone(uint64_t array);

#endif
