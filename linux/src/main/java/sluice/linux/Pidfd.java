package sluice.linux;

import java.lang.foreign.Arena;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/// A descriptor of a process (Linux 5.3). It never stands for another process, even if the kernel uses the pid again.
public final class Pidfd implements AutoCloseable {
    public static final int SIGKILL = 9;
    public static final int SIGTERM = 15;
    private static final int POLL_BYTES = 8;
    private static final int POLL_EVENTS = 4;
    private static final int POLL_RESULT = 6;
    private static final short POLLIN = 1;

    private final Descriptor descriptor;

    private Pidfd(Descriptor descriptor) {
        this.descriptor = descriptor;
    }

    /// The process that has this pid now; nothing when there is none, or the kernel is too old.
    public static Optional<Pidfd> open(long pid) {
        long number = SystemCalls.call(SystemCall.PIDFD_OPEN, pid, 0);
        return number < 0 ? Optional.empty() : Optional.of(new Pidfd(new Descriptor(number)));
    }

    /// @return whether the process existed
    public boolean send(int signal) {
        return SystemCalls.call(SystemCall.PIDFD_SEND_SIGNAL, descriptor.number(), signal, 0, 0) == 0;
    }

    /// The processes that have ended, by their places in the list.
    public static List<Integer> ended(List<Pidfd> processes) {
        List<Integer> ended = new ArrayList<>();
        try (Arena arena = Arena.ofConfined()) {
            ByteBuffer polled = SystemCalls.memory(POLL_BYTES * Math.max(1, processes.size()), arena);
            for (int at = 0; at < processes.size(); at++) {
                polled.putInt(at * POLL_BYTES, processes.get(at).descriptor.number()).putShort(at * POLL_BYTES + POLL_EVENTS, POLLIN);
            }
            ByteBuffer atOnce = SystemCalls.memory(2 * Long.BYTES, arena);
            long count = SystemCalls.call(SystemCall.PPOLL, SystemCalls.address(polled), processes.size(), SystemCalls.address(atOnce), 0, 0);
            for (int at = 0; count > 0 && at < processes.size(); at++) {
                if (polled.getShort(at * POLL_BYTES + POLL_RESULT) != 0) {
                    ended.add(at);
                }
            }
        }
        return ended;
    }

    @Override
    public void close() {
        descriptor.close();
    }
}
