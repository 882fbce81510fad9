package sluice.linux;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class FutexTest {
    private static final int WAIT = 0;

    /// As the library in another process does: it has its own map of the file.
    @Test
    void shouldWakeWhoWaitsInAnotherMapOfTheFile() throws Exception {
        try (Descriptor file = SharedMemory.create("futex", 4096); Arena arena = Arena.ofShared()) {
            MemorySegment mine = SharedMemory.map(file, 4096, true, arena);
            MemorySegment theirs = SharedMemory.map(file, 4096, false, arena);
            Thread waiter = Thread.ofPlatform().start(() -> SystemCalls.call(SystemCall.FUTEX, theirs.address() + 64, WAIT, 0, 0));
            long woken = 0;
            while (woken == 0) {
                woken = Futex.wakeAll(mine.asSlice(64));
            }
            waiter.join();
            assertThat(woken).isEqualTo(1);
        }
    }

    @Test
    void shouldWakeNobodyWhereNobodyWaits() throws Exception {
        try (Descriptor file = SharedMemory.create("futex", 4096); Arena arena = Arena.ofConfined()) {
            MemorySegment word = SharedMemory.map(file, 4096, true, arena);
            word.set(ValueLayout.JAVA_INT, 0, 7);
            assertThat(Futex.wakeAll(word)).isZero();
        }
    }
}
