/* A question about a stream and the begin of a capture never happen at the same time. */
#include "check.h"

#include <pthread.h>
#include <stdatomic.h>

#include "driver/stream.h"
#include "os/fork.h"

#define CAPTURES 20000u

static _Atomic bool captures, over;
static _Atomic unsigned asked, refused;

static void *ask(void *unused) {
    while (!over) {
        if (!sl_stream_begin_asking()) {
            refused++;
            continue;
        }
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
    for (unsigned i = 0; i < CAPTURES; i++) {
        sl_stream_begin_capture();
        captures = true;
        for (volatile int k = 0; k < 200; k = k + 1) {
        }
        captures = false;
        atomic_fetch_sub(&sl_stream_open_captures, 1);
    }
    over = true;
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    CHECK(asked && refused, "asked %u times, refused %u times", asked, refused);
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
