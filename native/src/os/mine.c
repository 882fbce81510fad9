/* mine: what a thread of the program keeps for itself. */
#include "os/mine.h"

__thread sl_mine_t sl_mine = {.gpu = -1};
