package sluice.proof.probe.memory;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import sluice.cuda.CallResult;
import sluice.cuda.Memory;
import sluice.cuda.Status;
import sluice.proof.facts.Facts;

/// Taking memory, giving it back, and asking how much there is.
public final class MemoryCommands {
    private MemoryCommands() {}

    public static Facts alloc(Session session, long bytes) {
        return hold(session, session.driver().memory().allocate(bytes));
    }

    /// Waits for a moment of the machine's monotonic clock, so that several processes ask at once.
    public static Facts allocAt(Session session, long nanoTime, long bytes) {
        while (System.nanoTime() < nanoTime) {
            Thread.onSpinWait();
        }
        return alloc(session, bytes);
    }

    public static Facts managed(Session session, long bytes) {
        return hold(session, session.driver().memory().allocateManaged(bytes));
    }

    public static Facts pitch(Session session, long widthBytes, long height) {
        Memory.Pitched pitched = session.driver().memory().allocatePitched(widthBytes, height, 4);
        hold(session, new CallResult(pitched.status(), pitched.pointer()));
        return Facts.of("status", pitched.status(), "pointer", pitched.pointer(), "pitch", pitched.pitchBytes());
    }

    public static Facts free(Session session, long pointer) {
        session.held.remove(pointer);
        return Facts.of("status", session.driver().memory().free(pointer));
    }

    public static Facts info(Session session) {
        Memory.Info info = session.driver().memory().info();
        CallResult total = session.driver().devices().totalBytes(session.device());
        Memory.Info v1 = session.driver().memory().infoV1();
        CallResult totalV1 = session.driver().devices().totalBytesV1(session.device());
        return Facts.of("status", info.status(), "free", info.freeBytes(), "total", info.totalBytes(),
                "device-status", total.status(), "device-total", total.value(),
                "v1-status", v1.status(), "v1-free", v1.freeBytes(), "v1-total", v1.totalBytes(),
                "v1-device-status", totalV1.status(), "v1-device-total", totalV1.value());
    }

    /// With NULL for one result or both.
    public static Facts infoNull(Session session) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment free = arena.allocate(ValueLayout.JAVA_LONG);
            MemorySegment total = arena.allocate(ValueLayout.JAVA_LONG);
            Memory memory = session.driver().memory();
            return Facts.of(
                    "null-free", memory.infoInto(MemorySegment.NULL, total), "total", total.get(ValueLayout.JAVA_LONG, 0),
                    "null-total", memory.infoInto(free, MemorySegment.NULL), "free", free.get(ValueLayout.JAVA_LONG, 0),
                    "null-both", memory.infoInto(MemorySegment.NULL, MemorySegment.NULL));
        }
    }

    public static Facts many(Session session, long bytes, long count) {
        int status = Status.SUCCESS;
        long made = 0;
        while (made < count && status == Status.SUCCESS) {
            status = alloc(session, bytes).status();
            made += status == Status.SUCCESS ? 1 : 0;
        }
        return Facts.of("status", status, "count", made);
    }

    /// Allocations of sizes between 1 byte and the maximum, small ones more often, the same for the same seed.
    public static Facts mix(Session session, long seed, long count, long maximumBytes) {
        Random random = new Random(seed);
        int status = Status.SUCCESS;
        long asked = 0;
        for (long i = 0; i < count && status == Status.SUCCESS; i++) {
            long bytes = 1 + (long) (Math.pow(random.nextDouble(), 6) * maximumBytes);
            status = alloc(session, bytes).status();
            asked += bytes;
        }
        return Facts.of("status", status, "asked", asked);
    }

    /// Frees the held memory: `all` in the order of allocation, `reverse`, `shuffled`, or only `half`, every second piece.
    public static Facts freeHeld(Session session, String order) {
        List<Long> pointers = IntStream.range(0, session.held.size())
                .filter(i -> !order.equals("half") || i % 2 == 0)
                .mapToObj(session.held::get)
                .collect(Collectors.toCollection(ArrayList::new));
        switch (order) {
            case "reverse" -> Collections.reverse(pointers);
            case "shuffled" -> Collections.shuffle(pointers, new Random(7));
            default -> { }
        }
        int worst = pointers.stream().mapToInt(session.driver().memory()::free).max().orElse(Status.SUCCESS);
        session.held.removeAll(new HashSet<>(pointers));
        return Facts.of("status", worst, "count", pointers.size());
    }

    /// Takes pieces until the driver refuses one.
    public static Facts fillUp(Session session, long stepBytes) {
        long count = 0;
        Facts last = alloc(session, stepBytes);
        while (last.status() == Status.SUCCESS) {
            count++;
            last = alloc(session, stepBytes);
        }
        return Facts.of("status", last.status(), "count", count);
    }

    private static Facts hold(Session session, CallResult allocated) {
        if (allocated.ok()) {
            session.held.add(allocated.value());
        }
        return Facts.of("status", allocated.status(), "pointer", allocated.ok() ? allocated.value() : 0);
    }
}
