package sluice.it.hostile;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import sluice.fault.Fault;
import sluice.it.machine.Machine;
import sluice.it.machine.OnMachine;

/// What a tenant's file is called becomes something else again and again, while the agent and the command line look.
@Timeout(180)
class SwapTest extends OnMachine {
    private static final Duration LONG = Duration.ofSeconds(4);

    enum Other {
        PIPE, LINK, FOLDER, NOTHING
    }

    private Path treasure;

    @BeforeEach
    void start() throws Exception {
        treasure = Files.writeString(directory.resolve("treasure"), "untouched");
        machine.startAgent();
        hold("good");
        hold("swapped");
    }

    private void hold(String name) throws Exception {
        Process job = machine.startSluice("run", "--sim", "--name", name, "--memory", "1g", "--", Machine.program("hog"), "--step", "64m", "--count", "2", "--hold", "120000");
        Machine.awaitLine(job, "got 2 ");
    }

    /// Puts the other thing beside the file, so that each swap is a single rename.
    private Path make(Other other) throws Exception {
        Path path = directory.resolve("other");
        switch (other) {
            case PIPE -> assertThat(machine.plain("mkfifo", path.toString()).status()).isZero();
            case LINK -> Files.createSymbolicLink(path, treasure);
            case FOLDER -> Files.createDirectory(path);
            case NOTHING -> { }
        }
        return path;
    }

    @ParameterizedTest
    @EnumSource
    @Fault(kind = Fault.Kind.SWAP, of = "a tenant's file, under the agent's and the command's looks")
    void shouldGoOnWithTheOthers(Other kind) throws Exception {
        Path region = machine.runtimeDirectory().resolve("swapped.region");
        Path kept = machine.runtimeDirectory().resolve("kept");
        Path other = make(kind);
        Instant end = Instant.now().plus(LONG);
        Thread swaps = Thread.ofPlatform().start(() -> {
            while (Instant.now().isBefore(end)) {
                move(region, kept);
                move(other, region);
                move(region, other);
                move(kept, region);
            }
        });

        while (Instant.now().isBefore(end)) {
            var ps = machine.sluice("ps");
            assertThat(ps.output()).as(ps.errors()).contains("good");
            machine.sluice("set", "swapped", "--memory", "2g");
        }
        swaps.join();

        assertThat(machine.askAgent("/v1/machine")).contains("\"good\"");
        assertThat(machine.askAgent("/healthz")).contains("200");
        assertThat(machine.sluice("ps").output()).contains("good", "swapped");
        assertThat(treasure).hasContent("untouched");
    }

    private static void move(Path from, Path to) {
        try {
            Files.move(from, to, StandardCopyOption.ATOMIC_MOVE);
        } catch (IOException _) {
            // There is nothing to move in the case of nothing.
        }
    }
}
