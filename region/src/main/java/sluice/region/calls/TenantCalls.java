package sluice.region.calls;

import java.nio.file.Path;
import java.util.List;

/// Which CUDA functions a tenant called, and what they copied.
///
/// @param known     false: the region was made by a version that knows other functions, so nothing was counted
/// @param readNanos when this was read, by the clock of `System.nanoTime()`
/// @param counts    of the functions that were called
public record TenantCalls(boolean known, long readNanos, List<CallCount> counts, Traffic traffic) {
    /// Reads the counters of the region in a file.
    public static TenantCalls read(Path file) {
        return Reader.ALL.read(file);
    }

    /// One for all: what is read takes little time, and memory that comes and goes is memory that the C library keeps.
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

    /// Calls without an error that do such a thing: kernels launched, memory taken.
    public long done(CallKind kind) {
        return counts.stream().filter(count -> count.kind() == kind).mapToLong(CallCount::done).sum();
    }

    /// What such calls asked for.
    public long bytes(CallKind kind) {
        return counts.stream().filter(count -> count.kind() == kind).mapToLong(CallCount::bytes).sum();
    }
}
