/* movables: the sources of memory that can leave the GPU. A new source is one more line here; its room defines it. */
#include "memory/movable.h"

extern const sl_movable_source_t sl_mapped_movable; /* memory/mapped */

const sl_movable_source_t *const sl_movables[] = {
    &sl_mapped_movable,
    NULL,
};
