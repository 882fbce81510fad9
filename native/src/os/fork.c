/* fork: the child of a fork forgets what the library knows about its parent. */
#include "os/fork.h"

#include <pthread.h>
#include <stdatomic.h>

#include "os/compiler.h"

/* The linker defines both ends of the section. */
SL_OWN extern const sl_fork_forget_t __start_sl_fork_forgets[], __stop_sl_fork_forgets[];

static void forget_all(void) {
    for (const sl_fork_forget_t *forget = __start_sl_fork_forgets; forget < __stop_sl_fork_forgets; forget++)
        (*forget)();
}

void sl_fork_begin(void) {
    static atomic_flag begun = ATOMIC_FLAG_INIT;
    if (!atomic_flag_test_and_set(&begun))
        pthread_atfork(NULL, NULL, forget_all);
}
