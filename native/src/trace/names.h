/* names: what kernels and the program's own ranges are called in a trace: texts that are written once, and numbers for them. */
#ifndef SL_NAMES_H
#define SL_NAMES_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "driver/entry.h"

/* The file of the lines; each trace has one, which stays for as long as the process lives. */
typedef struct {
    uint64_t salt; /* differs for each */
    char path[512];
} sl_names_t;

/* The number of a text; its line is in the file when this returns, if there is space. */
uint64_t sl_names_text(const sl_names_t *names, const char *text);
/* The same for the name of a kernel. known: the driver has accepted the handle, so the library may ask for its name. */
uint64_t sl_names_kernel(const sl_names_t *names, uint64_t function, bool known);
/* The same for other handles with a text: 0 if the name is not known yet. */
uint64_t sl_names_of(const sl_names_t *names, uint64_t handle);
void sl_names_remember(const sl_names_t *names, uint64_t handle, uint64_t name);
/* Code was unloaded: the driver may use its handles again for other code. */
void sl_names_unloaded(void);

SL_OWN extern _Atomic uint64_t sl_names_unload_count;
static inline uint64_t sl_names_unloads(void) {
    return SL_LOAD(sl_names_unload_count);
}

#endif
