#define _GNU_SOURCE
#include "gpu/lives.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gpu/settings.h"

#define FIRST_NAMESPACE 0xeffffffcu /* PROC_PID_INIT_INO of Linux */
#define NUMBERS 511u
#define HIGH_DESCRIPTOR 512 /* some programs expect the low numbers */

/* Never closed: the kernel frees all locks of a process on a file when the process closes any descriptor of it. */
static int lives = -1;
static pthread_mutex_t opening = PTHREAD_MUTEX_INITIALIZER;

unsigned sim_lives_namespace(void) {
    struct stat status;
    if (stat("/proc/self/ns/pid", &status) != 0 || status.st_ino == FIRST_NAMESPACE) return 0;
    return (unsigned)(status.st_ino % NUMBERS) + 1;
}

/* Every user of the state file may use this one. */
static int open_beside_state(void) {
    char path[sizeof sim_settings()->state_path + 8];
    struct stat state;
    snprintf(path, sizeof path, "%s.lives", sim_settings()->state_path);
    int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (file >= 0 && stat(sim_settings()->state_path, &state) == 0) (void)!fchmod(file, state.st_mode & 0666);
    int high = file >= 0 ? fcntl(file, F_DUPFD_CLOEXEC, HIGH_DESCRIPTOR) : -1;
    if (high < 0) return file;
    close(file);
    return high;
}

static int file_of_lives(void) {
    pthread_mutex_lock(&opening);
    if (lives < 0) lives = open_beside_state();
    int file = lives;
    pthread_mutex_unlock(&opening);
    return file;
}

static struct flock byte_at(uint64_t identity) {
    return (struct flock){.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = (off_t)identity, .l_len = 1};
}

void sim_lives_begin(uint64_t identity) {
    struct flock lock = byte_at(identity);
    if (sim_lives_namespace() != 0) (void)fcntl(file_of_lives(), F_SETLK, &lock);
}

bool sim_lives_has(uint64_t identity, pid_t *pid) {
    struct flock lock = byte_at(identity);
    *pid = 0;
    if (fcntl(file_of_lives(), F_GETLK, &lock) != 0) return true;
    if (lock.l_type != F_UNLCK && lock.l_pid > 0) *pid = lock.l_pid;
    return lock.l_type != F_UNLCK;
}
