package sluice.proof.probe;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import sluice.proof.facts.Facts;
import sluice.proof.probe.memory.MemoryCommands;
import sluice.proof.probe.memory.Session;

/// The time to start CUDA: from cuInit until the first memory is allocated.
final class StartCommands {
    private static final Path SCHEDULED = Path.of("/proc/thread-self/schedstat");

    private StartCommands() {}

    /// Opens GPU 0 at a moment of the machine's monotonic clock, so that many processes start CUDA at once.
    static Facts openAt(Session session, long nanoTime) throws IOException, InterruptedException {
        session.driver().devices();
        session.driver().memory();
        processorNanos();
        Thread.sleep(Duration.ofNanos(Math.max(0, nanoTime - System.nanoTime())));
        long start = System.nanoTime();
        long processor = processorNanos();
        Facts opened = session.open(0);
        int status = opened.status() != 0 ? opened.status() : MemoryCommands.alloc(session, 1).status();
        return Facts.of("status", status, "processor-nanos", processorNanos() - processor,
                "nanos", System.nanoTime() - start, "end", System.nanoTime());
    }

    /// How long this thread had a processor.
    private static long processorNanos() throws IOException {
        return Long.parseLong(Files.readString(SCHEDULED).split(" ")[0]);
    }
}
