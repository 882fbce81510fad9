package sluice.cuda;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.util.Optional;

/// Both generations of cuGetProcAddress, with all their answers.
public final class LookUp {

    /// @param how what the second generation says about its answer; -1 by the first
    public record Found(int status, MemorySegment address, int how) {}

    record Entries(
            @Entry(takes = "PPIL") MethodHandle cuGetProcAddress,
            @Entry(takes = "PPILP") MethodHandle cuGetProcAddress_v2) {}

    private static final int UNSAID = -1;

    private final Entries entries;

    private LookUp(Entries entries) {
        this.entries = entries;
    }

    /// Empty when this machine has no driver.
    public static Optional<LookUp> open() {
        return Symbols.library(Driver.LIBRARY)
                .map(library -> new Symbols((symbol, since) -> library.find(symbol), Status.NOT_FOUND))
                .map(symbols -> new LookUp(symbols.bind(Entries.class)));
    }

    /// Of the first generation, with 4 parameters.
    public Found four(String name, int version, long flags) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment function = arena.allocate(ADDRESS);
            MemorySegment text = arena.allocateFrom(name);
            int status = Calls.status(() -> (int) entries.cuGetProcAddress.invokeExact(text, function, version, flags));
            return new Found(status, function.get(ADDRESS, 0), UNSAID);
        }
    }

    /// Of the second generation, with 5 parameters.
    public Found five(String name, int version, long flags) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment function = arena.allocate(ADDRESS);
            MemorySegment how = arena.allocateFrom(JAVA_INT, UNSAID);
            MemorySegment text = arena.allocateFrom(name);
            int status = Calls.status(() -> (int) entries.cuGetProcAddress_v2.invokeExact(text, function, version, flags, how));
            return new Found(status, function.get(ADDRESS, 0), how.get(JAVA_INT, 0));
        }
    }
}
