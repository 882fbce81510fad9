package sluice.it.proof;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import sluice.it.machine.Machine;
import sluice.it.machine.OnMachine;

/// Ctrl-C: a proof that is broken off says so, and leaves nothing.
class InterruptTest extends OnMachine {
    private static final String STATE = "SLUICE_SIM_STATE=";

    /// The terminal sends the signal to all processes of the job; `kill` sends it to one. A suite that a shell runs in the background has
    /// the signal ignored, and hands that on.
    @ParameterizedTest
    @CsvSource({
        "verify --sim quota, true, interrupted after \\d+ checks? of 11",
        "verify --sim quota, false, interrupted after \\d+ checks? of 11",
        "verify --sim processes, true, interrupted after \\d+ checks? of \\d+",
        "bench --sim, true, interrupted after \\d+ steps?",
        "bench --sim, false, interrupted after \\d+ steps?",
        "bench lock --sim --seconds 2 --out FOLDER, true, interrupted after \\d+ steps?",
        "bench latency --sim --only 1 --seconds 2, true, interrupted after \\d+ steps?",
        "bench compute --sim --only lock --seconds 2, true, interrupted after \\d+ steps?",
        "bench compute --sim --only lock --seconds 2, false, interrupted after \\d+ steps?"
    })
    void shouldSayThatItWasBrokenOffAndLeaveNothing(String command, boolean group, String last) throws Exception {
        var line = new ArrayList<>(List.of("setsid", "env", "--default-signal=INT", Machine.HOME.resolve("bin/sluice").toString()));
        line.addAll(List.of(command.replace("FOLDER", directory.resolve("out").toString()).split(" ")));
        Process process = machine.startPlain(line.toArray(String[]::new));
        ProcessHandle proof = process.toHandle();
        awaitProbe(proof);
        List<ProcessHandle> started = proof.descendants().toList();
        Path folder = started.stream().map(InterruptTest::stateOf).filter(Objects::nonNull).findFirst().orElseThrow().getParent();

        new ProcessBuilder("kill", "-INT", "--", (group ? "-" : "") + proof.pid()).inheritIO().start().waitFor();
        started = Stream.concat(started.stream(), proof.descendants()).distinct().toList();
        var outcome = Machine.await(process);

        String text = outcome.output() + outcome.errors();
        assertThat(outcome.status()).as(text).isEqualTo(130);
        assertThat(text).containsPattern("(?m)^" + last + "$").doesNotContain("FAIL", "missed", "failed", "Shutdown", "Exception", "broke off");
        assertThat(folder).doesNotExist();
        for (ProcessHandle one : started) {
            one.onExit().get(5, TimeUnit.SECONDS);
        }
        assertThat(sessionOf(proof.pid())).isEmpty();
    }

    /// Waits until the proof has started a program on a stage.
    private static void awaitProbe(ProcessHandle proof) throws Exception {
        for (int attempt = 0; proof.descendants().noneMatch(process -> stateOf(process) != null); attempt++) {
            assertThat(attempt).as("waits for a probe").isLessThan(3000);
            Thread.sleep(20);
        }
    }

    /// The simulated GPU of a program, which lies in the folder of its stage; null where it has none of a stage.
    private static Path stateOf(ProcessHandle process) {
        try {
            return Stream.of(Files.readString(Path.of("/proc/" + process.pid() + "/environ"), StandardCharsets.ISO_8859_1).split("\0"))
                    .filter(setting -> setting.startsWith(STATE) && setting.contains("sluice-proof-"))
                    .map(setting -> Path.of(setting.substring(STATE.length()))).findFirst().orElse(null);
        } catch (IOException gone) {
            return null;
        }
    }

    private static List<Path> sessionOf(long session) throws IOException {
        try (Stream<Path> processes = Files.list(Path.of("/proc"))) {
            return processes.filter(process -> {
                try {
                    String stat = Files.readString(process.resolve("stat"), StandardCharsets.ISO_8859_1);
                    String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ");
                    return Long.parseLong(fields[3]) == session && !fields[0].equals("Z");
                } catch (IOException | RuntimeException gone) {
                    return false;
                }
            }).toList();
        }
    }
}
