package sluice.cuda;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/// The arguments of a kernel: an array of pointers to values, as a launch wants it. Lives as long as the arena.
public record Parameters(MemorySegment pointers) {

    /// Each value is an Integer (32 bits) or a Long (64 bits, also for device pointers).
    public static Parameters of(Arena arena, Object... values) {
        MemorySegment pointers = arena.allocate(ADDRESS, Math.max(1, values.length));
        for (int i = 0; i < values.length; i++) {
            pointers.setAtIndex(ADDRESS, i, switch (values[i]) {
                case Integer value -> arena.allocateFrom(JAVA_INT, value);
                case Long value -> arena.allocateFrom(JAVA_LONG, value);
                default -> throw new IllegalArgumentException("kernel argument " + values[i] + ": use an int or a long");
            });
        }
        return new Parameters(pointers);
    }
}
