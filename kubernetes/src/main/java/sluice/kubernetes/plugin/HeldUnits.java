package sluice.kubernetes.plugin;

import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import sluice.kubernetes.plugin.GivenUnits.Holder;

/// Which container has which units at one moment, as kubelet tells it.
///
/// @param containers all of the node, also those without a unit
record HeldUnits(List<Container> containers) {
    /// @param units by resource
    record Container(Holder holder, Map<UnitResource, Set<String>> units) {
        Set<String> of(UnitResource resource) {
            return units.getOrDefault(resource, Set.of());
        }
    }

    /// The container with these units; if none has just these, one that has them all: an init container's units go on to a container of its pod.
    Optional<Container> holderOf(UnitResource resource, Collection<String> units) {
        Set<String> wanted = new HashSet<>(units);
        return containers.stream().filter(container -> container.of(resource).equals(wanted)).reduce((first, last) -> last)
                .or(() -> containers.stream().filter(container -> !wanted.isEmpty() && container.of(resource).containsAll(wanted)).findFirst());
    }

    Set<String> all(UnitResource resource) {
        Set<String> all = new HashSet<>();
        containers.forEach(container -> all.addAll(container.of(resource)));
        return all;
    }

    /// How many units of each GPU are held.
    Map<String, Integer> counts(UnitResource resource) {
        Map<String, Integer> counts = new HashMap<>();
        UnitId.byGpu(UnitId.parse(all(resource))).forEach((uuid, ids) -> counts.put(uuid, ids.size()));
        return counts;
    }
}
