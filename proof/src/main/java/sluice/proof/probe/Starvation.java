package sluice.proof.probe;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;

/// How long the calling thread, and the thread that is the simulated GPU, had to wait for a processor so far: what the kernel
/// notes of each thread. 0 where it notes nothing.
final class Starvation {
    private static final String SIMULATED_GPU = "sluice-sim";

    private Starvation() {}

    static long nanos() {
        long sum = waited(Path.of("/proc/thread-self"));
        try (Stream<Path> threads = Files.list(Path.of("/proc/self/task"))) {
            return sum + threads.filter(thread -> read(thread.resolve("comm")).equals(SIMULATED_GPU)).mapToLong(Starvation::waited).sum();
        } catch (IOException unknown) {
            return sum;
        }
    }

    private static long waited(Path thread) {
        String[] words = read(thread.resolve("schedstat")).split(" ");
        return words.length == 3 ? Long.parseLong(words[1]) : 0;
    }

    private static String read(Path file) {
        try {
            return Files.readString(file).strip();
        } catch (IOException unknown) {
            return "";
        }
    }
}
