package sluice.kubernetes.plugin;

import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.LongSupplier;

/// Memory and GPU time of a container that belong together, guessed from the order of calls: kubelet admits pods one after the other, and
/// asks for all resources of a container in a row. What kubelet says later of the container is right in any case; this only makes it likely
/// that both halves are on one GPU.
final class UnitHalves {
    private static final long TOGETHER_NANOS = 2_000_000_000L;

    /// One half whose other half has not come yet.
    ///
    /// @param name of what was given; empty for GPU time
    record Half(UnitResource resource, List<String> gpus, String name, int percent, long nanos) {}

    private final LongSupplier clock;
    private final Map<UnitResource.Family, Half> open = new EnumMap<>(UnitResource.Family.class);

    UnitHalves(LongSupplier clock) {
        this.clock = clock;
    }

    /// The GPU that the other half is on.
    synchronized Optional<String> hint(UnitResource resource) {
        return other(resource).map(half -> half.gpus().getFirst());
    }

    /// @return the other half, if it came just before and is on the same GPUs
    synchronized Optional<Half> add(UnitResource resource, List<String> gpus, String name, int percent) {
        Optional<Half> other = other(resource).filter(half -> half.gpus().equals(gpus));
        if (other.isPresent()) {
            open.remove(resource.family());
        } else {
            open.put(resource.family(), new Half(resource, gpus, name, percent, clock.getAsLong()));
        }
        return other;
    }

    private Optional<Half> other(UnitResource resource) {
        return Optional.ofNullable(open.get(resource.family())).filter(half -> half.resource() != resource && clock.getAsLong() - half.nanos() < TOGETHER_NANOS);
    }
}
