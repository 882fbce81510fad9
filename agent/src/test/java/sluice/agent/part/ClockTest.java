package sluice.agent.part;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(60)
@SuppressWarnings("try")
class ClockTest {
    private final ByteArrayOutputStream log = new ByteArrayOutputStream();
    private final AtomicInteger ticks = new AtomicInteger();

    private void await(int wanted) throws InterruptedException {
        for (int wait = 0; wait < 1000 && ticks.get() < wanted; wait++) {
            Thread.sleep(10);
        }
    }

    @ParameterizedTest
    @ValueSource(classes = {OutOfMemoryError.class, StackOverflowError.class, NoClassDefFoundError.class, AssertionError.class, IllegalStateException.class})
    void shouldGoOnAfterAnyException(Class<? extends Throwable> kind) throws Exception {
        Throwable thrown = kind.getDeclaredConstructor().newInstance();
        try (var clock = new Clock("test", 10, () -> {
            if (ticks.incrementAndGet() < 3) {
                ClockTest.<RuntimeException>raise(thrown);
            }
        }, new Health(Duration.ofMinutes(1)), new PrintStream(log))) {
            await(6);
        }
        assertThat(ticks.get()).isGreaterThanOrEqualTo(6);
        assertThat(log.toString(StandardCharsets.UTF_8).lines()).as("told once").hasSize(1).allMatch(line -> line.contains("test failed: " + kind.getName()));
    }

    @Test
    void shouldPauseLongerAndLongerWhileItFails() throws Exception {
        try (var clock = new Clock("test", 1, () -> {
            ticks.incrementAndGet();
            throw new IllegalStateException("broken");
        }, new Health(Duration.ofMinutes(1)), new PrintStream(log))) {
            Thread.sleep(1500);
        }
        assertThat(ticks.get()).isBetween(2, 12);
    }

    /// By CPU time, so that a loaded machine makes no difference.
    @Test
    void shouldTakeNoMoreThanAPartOfACore() throws Exception {
        List<Long> ends = new CopyOnWriteArrayList<>();
        try (var clock = new Clock("test", 1, () -> {
            long until = cpuNanos() + 20_000_000;
            while (cpuNanos() < until) {
                Thread.onSpinWait();
            }
            ends.add(System.nanoTime());
        }, new Health(Duration.ofMinutes(1)), new PrintStream(log))) {
            for (int wait = 0; wait < 3000 && ends.size() < 8; wait++) {
                Thread.sleep(10);
            }
        }
        assertThat(ends).hasSizeGreaterThanOrEqualTo(8);
        assertThat(ends.get(7) - ends.get(6)).as("after 20 ms of work").isGreaterThan(600_000_000L);
    }

    private static long cpuNanos() {
        try {
            return Long.parseLong(Files.readString(Path.of("/proc/thread-self/schedstat")).split(" ")[0]);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @SuppressWarnings("unchecked")
    private static <T extends Throwable> void raise(Throwable thrown) throws T {
        throw (T) thrown;
    }
}
