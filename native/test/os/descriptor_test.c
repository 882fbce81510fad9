/* Descriptors of the library leave the low numbers to the program, where the process may have high ones. */
#include "check.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/resource.h>

#include "os/os.h"
#include "table.h"

#define LEAST_HIGH 512

static void should_move_a_descriptor_to_a_high_number(void) {
    int low = open("/dev/null", O_RDWR | O_CLOEXEC), free = low;
    errno = 4711;
    int high = sl_os_raise(low), other = sl_os_raise(open("/dev/null", O_RDWR | O_CLOEXEC));
    CHECK(high >= LEAST_HIGH && other > high && errno == 4711, "%d %d", high, other);
    CHECK(fcntl(high, F_GETFD) == FD_CLOEXEC && fcntl(low, F_GETFD) == -1);
    CHECK(open("/dev/null", O_RDWR) == free);
    CHECK(close(free) == 0 && close(high) == 0 && close(other) == 0);
}

static void should_keep_the_number_where_no_high_one_is_allowed(void) {
    struct rlimit few = {LEAST_HIGH, LEAST_HIGH};
    CHECK(setrlimit(RLIMIT_NOFILE, &few) == 0);
    int low = open("/dev/null", O_RDWR | O_CLOEXEC);
    errno = 4711;
    CHECK(low >= 0 && sl_os_raise(low) == low && fcntl(low, F_GETFD) == FD_CLOEXEC && errno == 4711);
    sl_os_widen();
    CHECK(errno == 4711 && open("/dev/null", O_RDWR) == low + 1, "a descriptor stays open");
}

static void should_have_none_to_move(void) {
    errno = 4711;
    CHECK(sl_os_raise(-1) == -1 && errno == 4711);
}

static void should_make_room_for_high_numbers(void) {
    int free = open("/dev/null", O_RDWR);
    CHECK(close(free) == 0 && table_size() <= LEAST_HIGH, "%d", table_size());
    errno = 4711;
    sl_os_widen();
    CHECK(table_size() > LEAST_HIGH && errno == 4711, "%d", table_size());
    CHECK(open("/dev/null", O_RDWR) == free && fcntl(LEAST_HIGH, F_GETFD) == -1, "a descriptor stays open");
}

static void *wait_for_end(void *end) {
    pthread_mutex_lock(end);
    return end;
}

static void should_tell_whether_it_is_alone(void) {
    pthread_mutex_t end = PTHREAD_MUTEX_INITIALIZER;
    pthread_t thread;
    errno = 4711;
    CHECK(sl_os_is_alone() && errno == 4711);
    pthread_mutex_lock(&end);
    CHECK(pthread_create(&thread, NULL, wait_for_end, &end) == 0 && !sl_os_is_alone());
    pthread_mutex_unlock(&end);
    pthread_join(thread, NULL);
}

/* A child has a table that is as large as its highest descriptor needs. */
#define RUN_IN_CHILD(test)             \
    do {                               \
        printf("%s\n", #test);         \
        fflush(stdout);                \
        CHECK(in_child(test) == 0);    \
    } while (0)

int main(void) {
    RUN_IN_CHILD(should_move_a_descriptor_to_a_high_number);
    RUN_IN_CHILD(should_keep_the_number_where_no_high_one_is_allowed);
    RUN_IN_CHILD(should_have_none_to_move);
    RUN_IN_CHILD(should_make_room_for_high_numbers);
    RUN_IN_CHILD(should_tell_whether_it_is_alone);
    return 0;
}
