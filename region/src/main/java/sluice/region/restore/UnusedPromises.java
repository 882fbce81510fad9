package sluice.region.restore;

import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import sluice.region.Tenant;

/// Promises of room that tenants did not use, because they are stopped, for example. The next one to such a tenant comes at once, later ones further and further
/// apart. So it does not keep others from the room.
final class UnusedPromises {
    private static final long MOST_NANOS = 8_000_000_000L;
    private static final int MOST_KEPT = 1024;

    private final Map<Path, Promise> last = new HashMap<>();

    /// @param storedNanos of the state that it was for
    private record Promise(long createdNanos, long storedNanos, long atNanos, int before) {
        boolean isFor(Tenant tenant, long stored) {
            return createdNanos == tenant.createdNanos() && storedNanos == stored;
        }

        long againNanos() {
            long apart = before == 0 ? 0 : Math.min(MOST_NANOS, StoredStates.VALID_NANOS << Math.min(before - 1, 4));
            return atNanos + StoredStates.VALID_NANOS + apart;
        }
    }

    void promised(Tenant tenant, long storedNanos) {
        Promise earlier = last.get(tenant.file());
        int before = earlier != null && earlier.isFor(tenant, storedNanos) ? earlier.before() + 1 : 0;
        if (last.size() >= MOST_KEPT) {
            last.clear();
        }
        last.put(tenant.file(), new Promise(tenant.createdNanos(), storedNanos, System.nanoTime(), before));
    }

    /// Why there is no promise now.
    Optional<String> wait(Tenant tenant, long storedNanos) {
        Promise earlier = last.get(tenant.file());
        long left = earlier == null || !earlier.isFor(tenant, storedNanos) ? 0 : earlier.againNanos() - System.nanoTime();
        return left <= 0 || earlier.before() == 0 ? Optional.empty()
                : Optional.of("there is room, but the processes of tenant '%s' do not take it; are they stopped? The next look is in %.1f s".formatted(tenant.name(), left / 1e9));
    }
}
