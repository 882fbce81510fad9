package sluice.cuda;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/// Calling method handles without writing `catch (Throwable)` each time: a downcall declares it but throws nothing.
/// What is timed by the benchmark does not go through here.
final class Calls {

    interface Plain {
        int call() throws Throwable;
    }

    interface Into {
        int call(MemorySegment out) throws Throwable;
    }

    private Calls() {}

    static int status(Plain call) {
        try {
            return call.call();
        } catch (Throwable thrown) {
            throw unexpected(thrown);
        }
    }

    /// A call whose first result is a 64-bit value behind a pointer.
    static CallResult longFrom(Into call) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment out = arena.allocate(JAVA_LONG);
            return new CallResult(call.call(out), out.get(JAVA_LONG, 0));
        } catch (Throwable thrown) {
            throw unexpected(thrown);
        }
    }

    /// A call whose first result is an unsigned 32-bit value behind a pointer.
    static CallResult intFrom(Into call) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment out = arena.allocate(JAVA_INT);
            return new CallResult(call.call(out), Integer.toUnsignedLong(out.get(JAVA_INT, 0)));
        } catch (Throwable thrown) {
            throw unexpected(thrown);
        }
    }

    static AssertionError unexpected(Throwable thrown) {
        return new AssertionError("a native call threw", thrown);
    }
}
