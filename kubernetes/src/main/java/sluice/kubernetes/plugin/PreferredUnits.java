package sluice.kubernetes.plugin;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;

/// Chooses units: all on one GPU, or, if no GPU has so many, as many on each of several.
///
/// @param hint     GPU on which the other half of the container is, if that is known
/// @param emptiest whether the GPU with most free units comes first; otherwise the fullest that has room, which leaves whole GPUs to large jobs
record PreferredUnits(Optional<String> hint, boolean emptiest) {
    /// @return empty if there are too few
    List<UnitId> choose(List<UnitId> available, List<UnitId> required, int size) {
        Map<String, List<UnitId>> gpus = UnitId.byGpu(join(available, required));
        Set<UnitId> must = new HashSet<>(required);
        List<String> order = order(gpus, must);
        for (int parts = 1; parts <= order.size() && size > 0; parts++) {
            if (size % parts == 0) {
                int each = size / parts;
                List<String> fitting = order.stream().filter(uuid -> gpus.get(uuid).size() >= each).limit(parts).toList();
                List<UnitId> chosen = take(gpus, fitting, must, each);
                if (fitting.size() == parts && chosen.size() == size && chosen.containsAll(must)) {
                    return chosen;
                }
            }
        }
        return List.of();
    }

    private static Set<UnitId> join(List<UnitId> available, List<UnitId> required) {
        Set<UnitId> all = new HashSet<>(available);
        all.addAll(required);
        return all;
    }

    /// GPUs with units that must be chosen, then the hint, then by room.
    private List<String> order(Map<String, List<UnitId>> gpus, Set<UnitId> must) {
        Map<String, Long> bound = new TreeMap<>();
        must.forEach(id -> bound.merge(id.uuid(), 1L, Long::sum));
        Comparator<String> room = Comparator.comparingInt(uuid -> gpus.get(uuid).size());
        return gpus.keySet().stream().sorted(Comparator.<String>comparingLong(uuid -> -bound.getOrDefault(uuid, 0L))
                .thenComparing(uuid -> !hint.equals(Optional.of(uuid))).thenComparing(emptiest ? room.reversed() : room).thenComparing(Comparator.naturalOrder())).toList();
    }

    private static List<UnitId> take(Map<String, List<UnitId>> gpus, List<String> uuids, Set<UnitId> must, int each) {
        List<UnitId> chosen = new ArrayList<>();
        for (String uuid : uuids) {
            gpus.get(uuid).stream().sorted(Comparator.<UnitId, Boolean>comparing(id -> !must.contains(id)).thenComparing(Comparator.naturalOrder())).limit(each).forEach(chosen::add);
        }
        return chosen;
    }
}
