/* os: what Sluice asks the kernel about processes, files and time. */
#ifndef SL_OS_H
#define SL_OS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

typedef struct {
    char state;
    pid_t parent;
    uint64_t threads;
    uint64_t start_ticks;
    uint64_t image; /* where the stack of the program begins: differs after execve; 0 = not shown to us */
} sl_os_process_t;

bool sl_os_process(pid_t pid, sl_os_process_t *process);
uint64_t sl_os_identity(pid_t pid, const sl_os_process_t *process);
pid_t sl_os_pid(uint64_t identity);
/* False only when it is certain that the process, or the program image it ran, is gone. */
bool sl_os_alive(uint64_t identity, uint64_t image);
uint64_t sl_os_pid_namespace(void);

/* Reads up to size - 1 bytes and ends them with a NUL; -1 and errno when the file cannot be read. */
ssize_t sl_os_read(const char *path, char *buffer, size_t size);
bool sl_os_stat(int fd, struct stat *status);
bool sl_os_lstat(const char *path, struct stat *status);

uint64_t sl_os_wall_nanos(void);
/* CLOCK_MONOTONIC of the machine, also in a time namespace; the coarse one is some milliseconds behind and costs less. */
uint64_t sl_os_nanos(void);
uint64_t sl_os_coarse_nanos(void);
/* Processors that are there to run on. */
unsigned sl_os_processors(void);
/* Grows with time, at 1 to 5 for each nanosecond on x86, and can jump; without a look at memory. */
static inline uint64_t sl_os_ticks(void) {
#ifdef __x86_64__
    return __builtin_ia32_rdtsc();
#else
    return sl_os_coarse_nanos();
#endif
}
void sl_os_sleep_nanos(uint64_t nanos);

#endif
