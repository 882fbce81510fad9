package sluice.cli.tables;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Optional;
import org.junit.jupiter.api.Test;
import sluice.api.model.ClaimPlace;
import sluice.api.model.OnBoards;
import sluice.region.layout.RegionLayout;

class InspectTextTest {
    @Test
    void shouldDecodeTheWholeRegion() {
        assertThat(String.join("\n", InspectText.lines(MadeUp.training(), OnBoards.NONE, MadeUp.NOW, MadeUp.PLAIN))).isEqualTo("""
                tenant    train
                state     running
                command   python train.py --epochs 3
                region    /dev/shm/sluice-1000/train.region (layout %d, %d bytes)
                created   2026-05-04T09:55:00Z (2h ago)
                root      pid 4711, started at tick 700
                user      1000
                on error  fail
                memory    0=4.0 GiB, 1=8.0 GiB (change 2)
                on oom    fail
                compute   0=25%%
                turns     weight 1, because of its cap

                GPUs
                  GPU  UUID                                      NAME             TOTAL    BLOCK       USED    LIMIT       PEAK  REFUSED  LAST REFUSED
                    0  GPU-00000000-0000-0000-0000-000000000000  NVIDIA H200  141.0 GiB  2.0 MiB    3.8 GiB  4.0 GiB    3.9 GiB       12       1.0 GiB
                    1  GPU-00000000-0000-0000-0000-000000000001  NVIDIA H200  141.0 GiB  2.0 MiB  512.0 MiB  8.0 GiB  612.0 MiB        0             -

                GPU time
                  GPU  CAP    GOT    USED   SINCE  CALLS  UNMEASURED  CAP WAITS  WAITED  TURN WAITS  WAITED   DEBT
                    0  25%%  28.3%%  17.0 s  60.0 s  12345           3        100  40.0 s           0     0 s  2.0 s
                  GPU 0: 2.0 s of GPU time ahead of its cap, repaid by %s
                  GPU 0: the GPU time of 3 calls could not be measured; it is in no figure and under no cap

                Turns: none

                Processes
                  SLOT   PID  STATE  CALLS  PASSED  GPU  CHARGED  IN FLIGHT  LIVE  EVER  COMMAND
                     0  4711  alive   1234       5    0  3.7 GiB    2.0 MiB     3  1000  python train.py
                     0  4711  alive   1234       5    1      0 B        0 B     0     0  python train.py
                     7  4712  dead    1234       5    0  1.0 GiB    2.0 MiB     3  1000
                     7  4712  dead    1234       5    1      0 B        0 B     0     0

                Memory, by what it is used for
                   PID  GPU     LINEAR  MANAGED      POOL  PHYSICAL    ARRAY  GRAPH    CONTEXT  OVERHEAD
                  4711    0    3.5 GiB  4.0 MiB  64.0 MiB         -  2.0 MiB      -  128.0 MiB   2.0 MiB
                  4712    0  824.0 MiB  4.0 MiB  64.0 MiB         -  2.0 MiB      -  128.0 MiB   2.0 MiB

                Error log
                  COUNT     LAST   PID  WHAT
                     12  42s ago  4711  cuMemAlloc of 1.0 GiB refused; raise --memory\
                """.formatted(RegionLayout.LAYOUT, RegionLayout.REGION_BYTES, MadeUp.clock(8)));
    }

    @Test
    void shouldNamePodAndClaimOfATenantOfACluster() {
        assertThat(InspectText.lines(MadeUp.training(), OnBoards.NONE, MadeUp.NOW, MadeUp.PLAIN, Optional.of(new ClaimPlace("team", "train-0", "", "train-gpu"))))
                .containsSubsequence("pod       team/train-0", "claim     train-gpu");
    }

    @Test
    void shouldSayWhyAStrictCapIsNone() {
        assertThat(String.join("\n", InspectText.lines(MadeUp.strict(RegionLayout.SLICES_OFF), OnBoards.NONE, MadeUp.NOW, MadeUp.PLAIN))).contains("""
                compute   0=25%, strict
                          its cap is not strict, a kernel that takes longer is repaid: time slices are off: SLUICE_SLICES turns them off
                turns     weight 3""");
        assertThat(String.join("\n", InspectText.lines(MadeUp.strict(RegionLayout.SLICES_ON), OnBoards.NONE, MadeUp.NOW, MadeUp.PLAIN))).contains("""
                compute   0=25%, strict
                turns     weight 3""");
    }

    @Test
    void shouldShowWhereItStandsOnTheBoard() {
        assertThat(String.join("\n", InspectText.lines(MadeUp.sharing(), MadeUp.board(), MadeUp.NOW, MadeUp.PLAIN))).contains("""
                compute   none
                turns     weight 3, priority high, each 5 ms
                """, """
                Turns
                  GPU  LENGTH  PLAN     TURNS    HELD  BALANCE  PROCESSES  NOW
                    0   15 ms  agent's   2400  37.0 s  -2.5 ms          2  waits, 3.0 ms
                """);
    }

    @Test
    void shouldShowAnEmptyRegion() {
        assertThat(InspectText.lines(MadeUp.idle(), OnBoards.NONE, MadeUp.NOW, MadeUp.PLAIN))
                .contains("memory    none (change 0)", "GPUs: none", "GPU time: none", "Turns: none", "Processes: none",
                        "Memory, by what it is used for: none", "Error log: none")
                .noneMatch(line -> line.contains("\033"));
    }

    @Test
    void shouldNotCallAnUnknownSizeNothing() {
        assertThat(InspectText.lines(MadeUp.onAGpuOfUnknownSize(), OnBoards.NONE, MadeUp.NOW, MadeUp.PLAIN))
                .anyMatch(line -> line.contains("NVIDIA H200      -")).noneMatch(line -> line.contains(" 0 B "));
    }
}
