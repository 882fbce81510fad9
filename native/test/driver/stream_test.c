/* A question about a stream and the begin of a capture never happen at the same time. */
#include "check.h"

#include <pthread.h>
#include <stdatomic.h>

#include "driver/stream.h"
#include "os/fork.h"
#include "os/os.h"

#define MOST_CAPTURES 100000u
#define ENOUGH 5000u /* questions of each outcome */

static _Atomic bool captures, over;
static _Atomic unsigned asked, refused;

static void *ask(void *unused) {
    while (!over) {
        if (!sl_stream_begin_asking()) {
            refused++;
            continue;
        }
        if (asked % 16 == 0)
            sl_os_sleep_nanos(20000); /* the driver may take its time */
        for (int i = 0; i < 20; i++)
            CHECK(!captures, "asked while a stream captures");
        asked++;
        sl_stream_end_asking();
    }
    return unused;
}

static void should_never_ask_while_a_stream_captures(void) {
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        CHECK(pthread_create(&threads[i], NULL, ask, NULL) == 0);
    for (unsigned i = 0; i < MOST_CAPTURES && (asked < ENOUGH || refused < ENOUGH); i++) {
        sl_stream_begin_capture();
        captures = true;
        sl_os_sleep_nanos(i % 64 ? 1 : 100000);
        captures = false;
        atomic_fetch_sub(&sl_stream_open_captures, 1);
        sl_os_sleep_nanos(i % 50 ? 1 : 100000);
    }
    over = true;
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    CHECK(asked >= ENOUGH && refused >= ENOUGH, "asked %u times, refused %u times", asked, refused);
}

static void should_not_wait_in_a_child_for_a_thread_of_the_parent(void) {
    sl_fork_begin();
    CHECK(sl_stream_begin_asking());
    pid_t child = fork();
    if (!child) {
        alarm(1);
        for (int i = 0; i < 50; i++)
            sl_stream_begin_capture(); /* each would wait for a tenth of a second */
        _exit(0);
    }
    int status;
    CHECK(waitpid(child, &status, 0) == child && status == 0, "status 0x%x", status);
    sl_stream_end_asking();
}

int main(void) {
    RUN(should_never_ask_while_a_stream_captures);
    RUN(should_not_wait_in_a_child_for_a_thread_of_the_parent);
    return 0;
}
