/* What the unit tests share: a check that names itself, and a folder of their own. */
#ifndef CHECK_H
#define CHECK_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <ftw.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define SKIPPED 77

#define CHECK(condition, ...)                                                   \
    do {                                                                        \
        if (!(condition)) {                                                     \
            fprintf(stderr, "%s:%d: %s:", __FILE__, __LINE__, #condition);     \
            fprintf(stderr, " " __VA_ARGS__);                                   \
            fputc('\n', stderr);                                                \
            exit(1);                                                            \
        }                                                                       \
    } while (0)

#define RUN(test)                \
    do {                         \
        printf("%s\n", #test);   \
        fflush(stdout);          \
        test();                  \
    } while (0)

static char test_folder[] = "/tmp/sluice-test-XXXXXX";
static pid_t test_folder_owner;

static inline int remove_entry(const char *path, const struct stat *status, int kind, struct FTW *place) {
    (void)status, (void)kind, (void)place;
    return remove(path);
}

static inline void remove_test_folder(void) {
    if (getpid() == test_folder_owner)
        nftw(test_folder, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
}

/* A fresh runtime directory; gone when the test ends. */
static inline void use_test_folder(void) {
    CHECK(mkdtemp(test_folder));
    test_folder_owner = getpid();
    atexit(remove_test_folder);
    setenv("SLUICE_RUNTIME_DIR", test_folder, 1);
}

/* A file, and its folders, at a path below the test's folder. */
static inline void write_below(const char *name, const char *text) {
    char path[300];
    snprintf(path, sizeof path, "mkdir -p $(dirname %s%s)", test_folder, name);
    CHECK(system(path) == 0);
    snprintf(path, sizeof path, "%s%s", test_folder, name);
    FILE *file = fopen(path, "w");
    CHECK(file && fputs(text, file) >= 0 && fclose(file) == 0);
}

/* Runs a function in a child and gives its exit status, or 128 + signal. */
static inline int in_child(void (*body)(void)) {
    pid_t pid = fork();
    if (pid == 0) {
        body();
        _exit(0);
    }
    int status;
    waitpid(pid, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

#endif
