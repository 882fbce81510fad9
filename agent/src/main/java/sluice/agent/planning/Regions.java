package sluice.agent.planning;

import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import sluice.region.Region;
import sluice.region.place.RuntimeDirectory;
import sluice.region.place.SluiceException;

/// The regions of the tenants that are on boards, open as long as they are there. The key is the creation time.
final class Regions implements AutoCloseable {
    private static final long SEARCH_PERIOD_NANOS = 500_000_000;
    /// The most searches for new tenants in a row without such a pause.
    private static final int MOST_SEARCHES = 8;
    private static final int MOST_FILES = 2048;

    private final Map<Long, Region> open = new HashMap<>();
    private final Set<Long> missing = new HashSet<>();
    private long searchedNanos;
    private int searches;

    /// The region of a tenant. A missing region is searched for again after a pause: it may be another user's. A board may name new tenants
    /// at every look, so one search serves all that are missing in a look.
    Optional<Region> find(RuntimeDirectory directory, long key, long nowNanos) {
        if (open.containsKey(key)) {
            return Optional.of(open.get(key));
        }
        boolean added = missing.add(key) && nowNanos != searchedNanos && searches++ < MOST_SEARCHES;
        if (added || nowNanos - searchedNanos > SEARCH_PERIOD_NANOS) {
            searches = added ? searches : 0;
            searchedNanos = nowNanos;
            directory.files("", ".region").stream().limit(MOST_FILES).forEach(file -> {
                try {
                    keep(Region.openReadOnly(file));
                } catch (SluiceException e) {
                    // Gone since, or of another layout.
                }
            });
        }
        return Optional.ofNullable(open.get(key));
    }

    private void keep(Region region) {
        if (open.putIfAbsent(region.header().createdNanos(), region) != null) {
            region.close();
        }
    }

    /// Closes the regions of all others.
    void retain(Set<Long> keys) {
        missing.retainAll(keys);
        open.entrySet().removeIf(entry -> {
            boolean gone = !keys.contains(entry.getKey());
            if (gone) {
                entry.getValue().close();
            }
            return gone;
        });
    }

    @Override
    public void close() {
        retain(Set.of());
    }
}
