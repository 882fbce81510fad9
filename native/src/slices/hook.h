/* hook: observes the calls that libcuda makes to the kernel driver. Only libcuda's own entry for ioctl changes; other libraries and the
 * program call what they called before. */
#ifndef SL_SLICES_HOOK_H
#define SL_SLICES_HOOK_H

#include <stdbool.h>

/* Before libcuda opens the GPU. Without SLUICE_SLICES it does nothing. */
void sl_hook_begin(void);
bool sl_hook_is_set(void);
/* Our own call, by the function that libcuda would have called. */
int sl_hook_call(int fd, unsigned long request, void *parameters);

#endif
