package sluice.agent.machine;

import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import sluice.agent.machine.MachineLook.TenantLook;
import sluice.region.Tenant;

/// Short numbers for tenants, by which a stream tells of their changes.
final class TenantIds {
    private final Map<Key, Integer> ids = new HashMap<>();
    private int last;

    private record Key(Path file, long createdNanos) {
        static Key of(Tenant tenant) {
            return new Key(tenant.file(), tenant.createdNanos());
        }
    }

    int of(Tenant tenant) {
        return ids.computeIfAbsent(Key.of(tenant), added -> ++last);
    }

    /// Forgets all other tenants. No number is used twice.
    void retain(List<TenantLook> tenants) {
        ids.keySet().retainAll(tenants.stream().map(look -> Key.of(look.tenant())).collect(Collectors.toSet()));
    }
}
