package sluice.cli.top;

import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;
import sluice.cuda.Nvml;
import sluice.region.Tenant;
import sluice.region.TenantGpu;
import sluice.region.boards.BoardState;

/// The machine at one moment, with rates since the previous look.
///
/// @param takenNanos by the clock of `System.nanoTime()`
/// @param overNanos  time since the look before; 0 when there was none
/// @param rows       tenants that run, one row for each GPU that they use, the oldest first
record TopLook(Instant at, long takenNanos, long overNanos, List<TopGpu> gpus, List<TopRow> rows, List<BoardState> boards) {
    static final TopLook NONE = new TopLook(Instant.EPOCH, 0, 0, List.of(), List.of(), List.of());

    static TopLook of(List<Tenant> tenants, List<BoardState> boards, List<Nvml.Gpu> machine, Instant at, long takenNanos, TopLook earlier) {
        Map<String, TopRow> before = earlier.rows.stream().collect(Collectors.toMap(TopRow::key, Function.identity(), (one, other) -> one));
        Map<Long, Integer> colours = colours(tenants, earlier);
        List<TopRow> rows = new ArrayList<>();
        for (Tenant tenant : tenants) {
            int colour = colours.get(tenant.createdNanos());
            for (Optional<TenantGpu> gpu : gpus(tenant)) {
                TopRow fresh = new TopRow(tenant, gpu, colour, -1, -1, -1, List.of());
                rows.add(TopRow.of(tenant, gpu, colour, Optional.ofNullable(before.get(fresh.key()))));
            }
        }
        long overNanos = earlier == NONE ? 0 : takenNanos - earlier.takenNanos;
        return new TopLook(at, takenNanos, overNanos, TopGpu.list(machine, rows, boards, earlier, overNanos), List.copyOf(rows), boards);
    }

    private static List<Optional<TenantGpu>> gpus(Tenant tenant) {
        return tenant.gpus().isEmpty() ? List.of(Optional.empty()) : tenant.gpus().stream().map(Optional::of).toList();
    }

    /// Each tenant keeps its colour; a new tenant gets the first free colour.
    private static Map<Long, Integer> colours(List<Tenant> tenants, TopLook earlier) {
        Map<Long, Integer> kept = new HashMap<>();
        earlier.rows.forEach(row -> kept.put(row.tenant().createdNanos(), row.colour()));
        Set<Integer> taken = new HashSet<>();
        tenants.forEach(tenant -> Optional.ofNullable(kept.get(tenant.createdNanos())).ifPresent(taken::add));
        int colour = 0;
        for (Tenant tenant : tenants) {
            if (!kept.containsKey(tenant.createdNanos())) {
                while (!taken.add(colour)) {
                    colour++;
                }
                kept.put(tenant.createdNanos(), colour);
            }
        }
        return kept;
    }

    List<TopRow> rowsOn(String uuid) {
        return rows.stream().filter(row -> row.isOn(uuid)).toList();
    }

    List<Tenant> tenants() {
        return rows.stream().map(TopRow::tenant).distinct().toList();
    }
}
