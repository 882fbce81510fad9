package sluice.region.calls;

import java.nio.file.Path;
import java.util.List;

/// The CUDA functions that a tenant called, and the bytes that they copied.
///
/// @param known     false: the region was made by a version that knows other functions, so nothing was counted
/// @param readNanos when this was read, by the clock of `System.nanoTime()`
/// @param counts    of the functions that were called
public record TenantCalls(boolean known, long readNanos, List<CallCount> counts, Traffic traffic) {
    /// Reads the counters of the region in a file.
    public static TenantCalls read(Path file) {
        return Reader.ALL.read(file);
    }

    /// One reader for all calls. A read is short, so callers can share it. Buffers that are allocated and freed for each read would stay
    /// in the C library.
    private static final class Reader {
        static final CallsReader ALL = new CallsReader();
    }

    public long calls() {
        return counts.stream().mapToLong(CallCount::calls).sum();
    }

    public long failed() {
        return counts.stream().mapToLong(CallCount::failed).sum();
    }

    public long nanos() {
        return counts.stream().mapToLong(CallCount::nanos).sum();
    }

    /// Calls of a kind without an error: kernels launched, memory taken.
    public long done(CallKind kind) {
        return counts.stream().filter(count -> count.kind() == kind).mapToLong(CallCount::done).sum();
    }

    /// The bytes that such calls asked for.
    public long bytes(CallKind kind) {
        return counts.stream().filter(count -> count.kind() == kind).mapToLong(CallCount::bytes).sum();
    }
}
