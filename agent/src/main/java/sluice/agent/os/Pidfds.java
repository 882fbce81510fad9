package sluice.agent.os;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;
import java.util.ArrayList;
import java.util.List;

/// File descriptors of processes (Linux 5.3). Older kernels have none; then there is nothing to poll.
@SuppressWarnings("restricted")
public final class Pidfds {
    public static final int NONE = -1;
    /// Number of the system call, the same on all architectures.
    private static final long PIDFD_OPEN = 434;
    private static final int POLL_BYTES = 8;
    private static final int POLL_EVENTS = 4;
    private static final int POLL_RESULT = 6;
    private static final short POLLIN = 1;

    private final MethodHandle syscall = function("syscall", FunctionDescriptor.of(JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG));
    private final MethodHandle poll = function("poll", FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_LONG, JAVA_INT));
    private final MethodHandle close = function("close", FunctionDescriptor.of(JAVA_INT, JAVA_INT));

    private static MethodHandle function(String name, FunctionDescriptor type) {
        Linker linker = Linker.nativeLinker();
        SymbolLookup library = linker.defaultLookup();
        return linker.downcallHandle(library.find(name).orElseThrow(), type);
    }

    /// A descriptor of the process that has this pid now, or [#NONE].
    public int open(long pid) {
        try {
            return (int) (long) syscall.invokeExact(PIDFD_OPEN, pid, 0L);
        } catch (Throwable e) {
            throw new IllegalStateException(e);
        }
    }

    /// Which of some have ended, by their places in the list.
    List<Integer> ended(List<Integer> descriptors) {
        List<Integer> ended = new ArrayList<>();
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment polled = arena.allocate((long) POLL_BYTES * Math.max(1, descriptors.size()), POLL_BYTES);
            for (int at = 0; at < descriptors.size(); at++) {
                polled.set(JAVA_INT, (long) at * POLL_BYTES, descriptors.get(at));
                polled.set(JAVA_SHORT, (long) at * POLL_BYTES + POLL_EVENTS, POLLIN);
            }
            int count = (int) poll.invokeExact(polled, (long) descriptors.size(), 0);
            for (int at = 0; count > 0 && at < descriptors.size(); at++) {
                if (polled.get(JAVA_SHORT, (long) at * POLL_BYTES + POLL_RESULT) != 0) {
                    ended.add(at);
                }
            }
            return ended;
        } catch (Throwable e) {
            throw new IllegalStateException(e);
        }
    }

    public void close(int descriptor) {
        try {
            int ignored = (int) close.invokeExact(descriptor);
        } catch (Throwable e) {
            throw new IllegalStateException(e);
        }
    }
}
