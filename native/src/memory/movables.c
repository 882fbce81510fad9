/* movables: the kinds of device memory that can leave the GPU and come back. A new kind is one more line here; its room defines it. */
#include "memory/movable.h"

extern const sl_movable_source_t sl_mapped_movable, sl_physical_movable;

const sl_movable_source_t *const sl_movables[] = {
    &sl_mapped_movable,   /* plain memory that Sluice maps itself */
    &sl_physical_movable, /* memory of handles that the program made (cuMemCreate) */
    NULL,
};
