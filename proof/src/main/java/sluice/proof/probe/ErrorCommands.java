package sluice.proof.probe;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import sluice.cuda.Devices;
import sluice.cuda.Memory;
import sluice.proof.facts.Facts;
import sluice.proof.probe.memory.Session;

/// The driver's answers to mistakes: each fact is a status.
final class ErrorCommands {
    private static final int NO_SUCH_DEVICE = 99;
    private static final long NOT_A_POINTER = 0x123;
    private static final long PEBIBYTE = 1L << 50;

    private ErrorCommands() {}

    static Facts all(Session session) {
        Memory memory = session.driver().memory();
        Devices devices = session.driver().devices();
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment out = arena.allocate(ValueLayout.JAVA_LONG);
            MemorySegment nowhere = MemorySegment.NULL;
            long freed = memory.allocate(4096).orThrow("cuMemAlloc");
            Facts facts = Facts.of(
                    "alloc-0", memory.allocateInto(out, 0),
                    "alloc-into-null", memory.allocateInto(nowhere, 4096),
                    "alloc-pebibyte", memory.allocateInto(out, PEBIBYTE),
                    "pitch-0", memory.allocatePitched(0, 4, 4).status(),
                    "pitch-bad-element", memory.allocatePitched(64, 4, 3).status(),
                    "managed-0", memory.allocateManaged(0).status(),
                    "free", memory.free(freed),
                    "free-0", memory.free(0),
                    "free-twice", memory.free(freed),
                    "free-not-a-pointer", memory.free(NOT_A_POINTER),
                    "info-null-total", memory.infoInto(out, nowhere),
                    "info-null-free", memory.infoInto(nowhere, out),
                    "info-null-both", memory.infoInto(nowhere, nowhere),
                    "total-null", devices.totalBytesInto(nowhere, session.device()),
                    "total-no-such-device", devices.totalBytesInto(out, NO_SUCH_DEVICE));
            facts.values().putAll(withoutContext(session, out).values());
            return facts;
        }
    }

    private static Facts withoutContext(Session session, MemorySegment out) {
        session.driver().devices().setCurrent(0);
        try {
            return Facts.of(
                    "alloc-no-context", session.driver().memory().allocateInto(out, 4096),
                    "info-no-context", session.driver().memory().infoInto(out, out),
                    "free-no-context", session.driver().memory().free(NOT_A_POINTER));
        } finally {
            session.driver().devices().setCurrent(session.context());
        }
    }
}
