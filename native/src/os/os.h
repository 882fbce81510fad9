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
    uint64_t memory_bytes; /* 0: the process is ending, and its memory is gone already */
    uint64_t stack; /* where the stack of the program begins: differs after execve unless addresses are not random; 0 = not shown to us */
} sl_os_process_t;

/* Reads /proc of a process; pid 0: this process. */
bool sl_os_process(pid_t pid, sl_os_process_t *process);
uint64_t sl_os_identity(pid_t pid, const sl_os_process_t *process);
pid_t sl_os_pid(uint64_t identity);
/* The program image that this process runs. The lower half is a part of `stack`: other processes identify the image by it. The upper
 * half is a part of the 16 random bytes that the kernel gives to each image (AT_RANDOM): copies of this library in one process identify
 * each other by it. */
uint64_t sl_os_image(const sl_os_process_t *self);
/* False only when it is certain that the process, or the program image it ran, is gone. The process is of the caller's pid namespace. */
bool sl_os_alive(uint64_t identity, uint64_t image);
/* Whether the process is ending: its memory is gone, but its files may still be open. */
bool sl_os_is_ending(uint64_t identity);
uint64_t sl_os_pid_namespace(void);
/* The namespace in which /proc numbers processes; SL_OS_UNKNOWN_NAMESPACE where that is not the caller's own. */
#define SL_OS_UNKNOWN_NAMESPACE 1u
uint64_t sl_os_proc_namespace(void);

/* Reads up to size - 1 bytes and ends them with a NUL; -1 and errno when the file cannot be read. */
ssize_t sl_os_read(const char *path, char *buffer, size_t size);
bool sl_os_stat(int fd, struct stat *status);
bool sl_os_lstat(const char *path, struct stat *status);

/* Moves a descriptor to a high number, because some programs expect the low ones. Where the process may have none so high, or there is none (negative), it
 * stays what it is. Keeps errno. */
int sl_os_raise(int fd);
/* Makes room for high descriptors. In a process with one thread that takes microseconds, with more 5 to 12 ms (Linux 6.18): the kernel waits until all processors
 * have let go of the smaller table. It never shrinks the table. Keeps errno. */
void sl_os_widen(void);
/* Whether the process has no other thread; false where that is not known. Keeps errno. */
bool sl_os_is_alone(void);

/* Writes a line to a descriptor of the program. It raises no signal and waits at most one second. A line that cannot be written is lost. */
void sl_os_print(int fd, const char *line, size_t length);

uint64_t sl_os_wall_nanos(void);
/* CLOCK_MONOTONIC of the machine, also in a time namespace; the coarse one is some milliseconds behind and costs less. */
uint64_t sl_os_nanos(void);
uint64_t sl_os_coarse_nanos(void);
/* The number of online processors. */
unsigned sl_os_processors(void);
/* The processor's counter: 1 to 5 ticks for each nanosecond on x86. It can jump. Reads no memory. */
static inline uint64_t sl_os_ticks(void) {
#ifdef __x86_64__
    return __builtin_ia32_rdtsc();
#else
    return sl_os_coarse_nanos();
#endif
}
void sl_os_sleep_nanos(uint64_t nanos);

#endif
