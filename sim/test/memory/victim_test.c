/* A killed process leaves no work behind on the GPU's timeline. */
#include "check.h"

#include <signal.h>

int main(void) {
    int told[2];
    char letter;
    CHECK(pipe(told) == 0);
    pid_t victim = fork();
    if (victim == 0) {
        use_gpu();
        for (int i = 0; i < 100; i++) spin(NULL, 60000000000u);
        CHECK(write(told[1], "x", 1) == 1);
        pause();
    }
    close(told[1]);
    CHECK(read(told[0], &letter, 1) == 1);
    kill(victim, SIGKILL);
    CHECK(waitpid(victim, NULL, 0) == victim);
    use_gpu();
    double begin = seconds();
    spin(NULL, 1000000);
    OK(cuCtxSynchronize());
    CHECK(seconds() - begin < 2);
    return 0;
}
