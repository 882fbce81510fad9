/* thread: what the library keeps for each thread of the program, and how it starts threads of its own. */
#define _GNU_SOURCE
#include "os/thread.h"

#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Before glibc 2.34 it is in libpthread, which a program that loads the driver has. */
#pragma weak pthread_create
#if defined __x86_64__
__asm__(".symver pthread_create, pthread_create@GLIBC_2.2.5");
#endif

__thread sl_thread_t sl_thread = {.gpu = -1};

bool sl_thread_start(void *(*body)(void *), void *argument) {
    pthread_attr_t attributes;
    pthread_t thread;
    uint64_t all = UINT64_MAX, before = 0; /* the kernel's sets of signals */
    if (!pthread_create)
        return false;
    syscall(SYS_rt_sigprocmask, SIG_BLOCK, &all, &before, sizeof all);
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    bool ok = pthread_create(&thread, &attributes, body, argument) == 0;
    pthread_attr_destroy(&attributes);
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, &before, NULL, sizeof before);
    return ok;
}
