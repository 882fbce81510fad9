package sluice.region;

import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;

/// Which CUDA functions a tenant called, and what they copied.
///
/// @param known     false: the region was made by a version that knows other functions, so nobody counted
/// @param readNanos when this was read, by the clock of `System.nanoTime()`
/// @param counts    of the functions that were called
public record TenantCalls(boolean known, long readNanos, List<CallCount> counts, Traffic traffic) {
    /// Of threads that have none of their own. In the others nobody counts before it is their writer, for ever.
    private static final int SHARED_STRIPE = 0;
    private static final int STRIPES = RegionLayout.TRAFFIC_COUNT;
    private static final int STRIPE_CALLS = RegionLayout.CALL_COUNT / STRIPES;

    /// Reads the counters of the region in a file.
    public static TenantCalls read(Path file) {
        try (Region region = Region.openHere(file)) {
            return of(region);
        } catch (InternalError e) {
            // The JVM's word for a mapped page that is not there: somebody cut the file while we read it.
            throw new RegionException.Truncated(file, 0, RegionLayout.REGION_BYTES);
        }
    }

    static TenantCalls of(Region region) {
        if (region.header().entriesDigest() != CallTable.DIGEST) {
            return new TenantCalls(false, System.nanoTime(), List.of(), Traffic.NONE);
        }
        CallCount[] counts = new CallCount[CallTable.NAMES.size()];
        for (int stripe = 0; stripe < STRIPES; stripe++) {
            if (stripe == SHARED_STRIPE || region.traffic(stripe).writer() != 0) {
                add(region, stripe, counts);
            }
        }
        Traffic traffic = Traffic.NONE;
        for (int stripe = 0; stripe < STRIPES; stripe++) {
            traffic = traffic.plus(region.traffic(stripe));
        }
        return new TenantCalls(true, System.nanoTime(), Arrays.stream(counts).filter(Objects::nonNull).toList(), traffic);
    }

    /// Most functions are never called, so the stripe is copied first to see which ones were.
    private static void add(Region region, int stripe, CallCount[] counts) {
        long[] words = region.calls(stripe * STRIPE_CALLS, counts.length);
        for (int entry = 0; entry < counts.length; entry++) {
            if (words[entry * (RegionLayout.CALL_BYTES / Long.BYTES)] > 0) {
                CallCount before = counts[entry] != null ? counts[entry]
                        : new CallCount(CallTable.NAMES.get(entry), CallKind.of(entry), 0, 0, 0, 0, 0, 0);
                counts[entry] = before.plus(region.call(stripe * STRIPE_CALLS + entry));
            }
        }
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
