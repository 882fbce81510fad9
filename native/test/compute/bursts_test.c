/* A program that works in bursts with pauses between them never waits for its own work: the GPU has little of it, and finished the last burst
 * long ago. The calls of a burst are 10 of 70 to 130 us, so batches and credit end at every place in a burst. */
#include "on_strict.h"

enum { BURSTS = 60, CALLS = 10 };

static void work_in_bursts(uint64_t nanos) {
    for (unsigned i = 0; i < BURSTS; i++) {
        usleep(12000);
        for (unsigned call = 0; call < CALLS; call++)
            launch(nanos);
        wait_for_all();
    }
}

static void should_not_wait_for_the_work_of_a_burst(void) {
    setenv("SLUICE_SLICES", "0", 1);
    setenv("SLUICE_WEIGHT", "1", 1);
    use_sim("bursts", "1g");
    be_able_to_ask();
    load_spin();
    static const uint64_t lengths[] = {70000, 77000, 100000, 130000};
    const sl_region_share_t *share = &sl_tenant.region.shares[sl_gpu_find(0)];
    work_in_bursts(100000);
    for (unsigned i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        uint64_t before = share->room_waits, waited = share->room_waited_nanos;
        work_in_bursts(lengths[i]);
        unsigned waits = (unsigned)(share->room_waits - before);
        printf("calls of %u us: %u waits, %.2f ms\n", (unsigned)(lengths[i] / 1000), waits, (double)(share->room_waited_nanos - waited) / 1e6);
        CHECK(waits <= BURSTS / 20, "%u waits in %d bursts", waits, BURSTS);
    }
}

int main(int argc, char **argv) {
    (void)argc;
    (void)argv;
    RUN(should_not_wait_for_the_work_of_a_burst);
    return 0;
}
