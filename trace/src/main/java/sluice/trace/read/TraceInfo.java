package sluice.trace.read;

import java.time.Instant;
import java.util.List;

/// The description of a trace.
///
/// @param tenant     name of the tenant; empty when it is not known
/// @param events     events in the folder, the clock's own not counted
/// @param dropped    events that the library could not record because a ring was full
/// @param beginNanos begin of the first event, CLOCK_MONOTONIC; 0 when there is none
/// @param endNanos   end of the last event; 0 when there is none
/// @param anchor     one moment in both clocks, from which wall-clock times follow
public record TraceInfo(
        String tenant,
        List<Process> processes,
        List<ThreadRing> threads,
        List<Gpu> gpus,
        long events,
        long dropped,
        long beginNanos,
        long endNanos,
        Anchor anchor) {

    public long nanos() {
        return endNanos - beginNanos;
    }

    /// A process of the tenant.
    ///
    /// @param startedNanos wall clock, nanoseconds since 1970; 0 when it is not known
    public record Process(int pid, String command, long startedNanos, String driver, String library) {}

    /// A thread that called the driver.
    public record ThreadRing(int pid, int tid, String name, long events, long dropped) {}

    /// A GPU of the tenant.
    ///
    /// @param index       number in nvidia-smi
    /// @param capPermille cap on its time when the job first used it; 0 = none
    /// @param weight      part of its time against the weights of others; 0 = not known
    public record Gpu(int index, String uuid, String name, int capPermille, int weight) {}

    /// One moment in both clocks.
    public record Anchor(long monotonicNanos, long wallNanos) {
        public Instant wall(long nanos) {
            return Instant.ofEpochSecond(0, wallNanos + (nanos - monotonicNanos));
        }
    }
}
