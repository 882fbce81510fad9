package sluice.region;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import sluice.region.layout.LimitsView;
import sluice.region.place.SluiceException;

/// The order to record a tenant's calls, and where to.
///
/// @param mode       0 = not, 1 = in rings that a recorder empties, 2 = in rings that need no recorder
/// @param directory  folder for the rings, an absolute path
/// @param events     events that a ring has room for, a power of two; 0 = the default
/// @param untilNanos monotonic time at which it ends by itself; 0 = never
public record TraceRequest(int mode, String directory, int events, long untilNanos) {
    public static final TraceRequest NONE = new TraceRequest(0, "", 0, 0);
    private static final int OFF = 0;
    private static final int RING = 1;
    private static final int SPOOL = 2;
    static final int DIRECTORY_BYTES = 399;

    public TraceRequest {
        if (directory.getBytes(StandardCharsets.UTF_8).length > DIRECTORY_BYTES) {
            throw new SluiceException("the path " + directory + " is too long for a trace; use one of at most " + DIRECTORY_BYTES + " bytes");
        }
    }

    /// A trace that needs no recorder while the job runs.
    public static TraceRequest spool(Path directory) {
        return new TraceRequest(SPOOL, directory.toAbsolutePath().normalize().toString(), 0, 0);
    }

    /// A trace that a recorder reads while the job runs.
    public static TraceRequest ring(Path directory, int events, long untilNanos) {
        return new TraceRequest(RING, directory.toAbsolutePath().normalize().toString(), events, untilNanos);
    }

    /// Begins the trace of a tenant that runs, and returns its number.
    public long begin(Path file) {
        try (ChangeLock _ = ChangeLock.of(file); Region region = Region.openReadWrite(file)) {
            Tenant tenant = new TenantReader(region).read();
            LimitsView limits = region.limits();
            long until = limits.traceUntilNanos();
            if (!tenant.state().lives()) {
                throw new SluiceException("tenant '" + tenant.name() + "' has ended; only a running one can be traced");
            }
            if (limits.trace() != OFF && (until == 0 || until > System.nanoTime())) {
                throw new SluiceException("tenant '" + tenant.name() + "' is being traced already, to " + limits.traceDirectory());
            }
            end(limits);
            long generation = limits.traceGeneration() + 1;
            limits.traceDirectory(directory);
            limits.traceEvents(events);
            limits.traceUntilNanos(untilNanos);
            limits.traceGeneration(generation);
            limits.trace(mode);
            limits.addEpoch(1);
            return generation;
        }
    }

    /// Ends the trace with this number, unless another trace has begun since.
    public static void end(Path file, long generation) {
        try (ChangeLock _ = ChangeLock.of(file); Region region = Region.openReadWrite(file)) {
            if (region.limits().traceGeneration() == generation) {
                end(region.limits());
            }
        }
    }

    private static void end(LimitsView limits) {
        if (limits.trace() != OFF) {
            limits.trace(OFF);
            limits.addEpoch(1);
        }
    }
}
