package sluice.agent.audit;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.invoke.MethodHandle;
import sluice.agent.os.Pidfds;

/// Signals to processes by file descriptors (Linux 5.3): whatever becomes of a pid, no other process is ever hit.
@SuppressWarnings("restricted")
final class AuditSignals {
    static final int TERMINATE = 15;
    static final int KILL = 9;
    /// Number of the system call, the same on all architectures.
    private static final long PIDFD_SEND_SIGNAL = 424;

    private final Pidfds pidfds = new Pidfds();
    private final MethodHandle syscall = Linker.nativeLinker().downcallHandle(
            Linker.nativeLinker().defaultLookup().find("syscall").orElseThrow(),
            FunctionDescriptor.of(JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG));

    /// A descriptor of the process that has this pid now; less than 0 when there is none, or the kernel is too old.
    int open(long pid) {
        return pidfds.open(pid);
    }

    boolean send(int descriptor, int signal) {
        try {
            return (long) syscall.invokeExact(PIDFD_SEND_SIGNAL, (long) descriptor, (long) signal, 0L, 0L) == 0;
        } catch (Throwable e) {
            throw new IllegalStateException(e);
        }
    }

    void close(int descriptor) {
        pidfds.close(descriptor);
    }
}
