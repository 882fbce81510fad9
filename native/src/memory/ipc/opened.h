/* opened: memory of other processes that this process has opened, and memory that others may open. While it has some, the driver's own
 * state must not leave the GPU: seen on driver 580, the driver stores it and then cannot restore it. */
#ifndef SL_OPENED_H
#define SL_OPENED_H

#include <stdbool.h>

/* Notes that the process imported a handle of another process. Sluice does not notice its release. */
void sl_opened_note_import(void);
bool sl_opened_any(void);

#endif
