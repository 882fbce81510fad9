package sluice.linux;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import org.junit.jupiter.api.Test;

class PidfdTest {
    @Test
    void shouldSignalAndSeeTheEndOfAProcess() throws Exception {
        Process one = new ProcessBuilder("sleep", "60").start();
        Process other = new ProcessBuilder("sleep", "60").start();
        try (Pidfd first = Pidfd.open(one.pid()).orElseThrow(); Pidfd second = Pidfd.open(other.pid()).orElseThrow()) {
            assertThat(Pidfd.ended(List.of(first, second))).isEmpty();

            assertThat(second.send(Pidfd.SIGKILL)).isTrue();
            other.waitFor();

            assertThat(Pidfd.ended(List.of(first, second))).containsExactly(1);
            assertThat(second.send(Pidfd.SIGTERM)).isFalse();
        } finally {
            one.destroyForcibly();
            other.destroyForcibly();
        }
    }

    @Test
    void shouldShareMemoryThatKeepsItsSize() throws IOException {
        try (Descriptor memory = SharedMemory.create("test", 8192); Arena arena = Arena.ofConfined()) {
            MemorySegment ours = SharedMemory.map(memory, 8192, true, arena);
            SharedMemory.sealAgainstWriters(memory);
            ours.set(ValueLayout.JAVA_BYTE, 4096, (byte) 7);

            assertThat(SharedMemory.isSizeSealed(memory)).isTrue();
            assertThat(SharedMemory.map(memory, 8192, false, arena).get(ValueLayout.JAVA_BYTE, 4096)).isEqualTo((byte) 7);
            assertThat(memory.status().bytes()).isEqualTo(8192);
        }
    }
}
