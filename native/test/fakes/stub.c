/* The names that a program needs to link; the build lists them. */
#define STUB(name)   \
    int name(void) { \
        return 1;    \
    }
#include "stub_names.h"
