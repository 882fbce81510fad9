/* A child never waits for a lock that a thread of its parent held. */
#include "check.h"

int main(void) {
    use_gpu();
    for (int round = 0; round < 2000; round++) {
        spin(NULL, 1000); /* the engine's thread is busy at any time of the fork */
        pid_t child = fork();
        if (child == 0) {
            alarm(20);
            EQUAL(cuInit(0), 3);
            _exit(0);
        }
        int status;
        CHECK(waitpid(child, &status, 0) == child);
        EQUAL(status, 0);
    }
    return 0;
}
