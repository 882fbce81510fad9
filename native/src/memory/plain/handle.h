/* handle: the program's number of a handle (cuMemCreate and the like) and the driver's.
 *
 * They are equal until the memory behind the handle leaves the GPU. When it is back, the driver has another number for it. The program
 * keeps its number, and the hooks translate it in every call. If the driver gives a number that the program has for other memory, the
 * program gets a number that no driver gives. */
#ifndef SL_HANDLE_H
#define SL_HANDLE_H

#include <stdbool.h>
#include <stdint.h>

#include "os/compiler.h"

/* Whether a number was ever exchanged; written while the process is held. */
SL_OWN extern bool sl_handle_exchanged;

uint64_t sl_handle_real_slowly(uint64_t handle);
uint64_t sl_handle_name_slowly(uint64_t real);
uint64_t sl_handle_made_slowly(uint64_t real);
void sl_handle_forget_slowly(uint64_t handle);

/* The driver's number. */
static inline uint64_t sl_handle_real(uint64_t handle) {
    return SL_UNLIKELY(sl_handle_exchanged) ? sl_handle_real_slowly(handle) : handle;
}

/* The program's number for a number of the driver; the memory may be in the table already. */
static inline uint64_t sl_handle_name(uint64_t real) {
    return SL_UNLIKELY(sl_handle_exchanged) ? sl_handle_name_slowly(real) : real;
}

/* The same for memory that the driver has just made. */
static inline uint64_t sl_handle_made(uint64_t real) {
    return SL_UNLIKELY(sl_handle_exchanged) ? sl_handle_made_slowly(real) : real;
}

/* The memory is gone. */
static inline void sl_handle_forget(uint64_t handle) {
    if (SL_UNLIKELY(sl_handle_exchanged))
        sl_handle_forget_slowly(handle);
}

/* Gives a handle another number of the driver. The process must be held. False: no memory for the table. */
bool sl_handle_exchange(uint64_t handle, uint64_t real);

#endif
