/* thread: what the library keeps for each thread of the program. */
#include "os/thread.h"

__thread sl_thread_t sl_thread = {.gpu = -1};
