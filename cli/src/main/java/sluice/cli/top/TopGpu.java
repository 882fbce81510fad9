package sluice.cli.top;

import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import sluice.cuda.Nvml;
import sluice.region.TenantGpu;
import sluice.region.boards.BoardState;

/// A GPU.
///
/// @param tenantBytes    memory of its tenants
/// @param otherBytes     other used memory, by the driver; -1: the driver cannot be asked
/// @param turns          turns that were taken on its board so far
/// @param turnsPerSecond -1: no tenant takes turns
record TopGpu(
        int index,
        String uuid,
        String name,
        long totalBytes,
        long tenantBytes,
        long otherBytes,
        long turns,
        long turnsPerSecond) {
    static final long UNKNOWN = -1;
    private static final double NANOS = 1e9;

    /// The GPUs that the driver knows and those that tenants use, in the order of their numbers.
    static List<TopGpu> list(List<Nvml.Gpu> machine, List<TopRow> rows, List<BoardState> boards, TopLook earlier, long overNanos) {
        Map<String, TopGpu> found = new LinkedHashMap<>();
        machine.forEach(gpu -> found.put(gpu.uuid(), new TopGpu(gpu.index(), gpu.uuid(), gpu.name(), gpu.totalBytes(), 0, gpu.usedBytes(), 0, -1)));
        rows.stream().flatMap(row -> row.gpu().stream()).forEach(gpu -> found.merge(gpu.uuid(), of(gpu), TopGpu::with));
        return found.values().stream()
                .map(gpu -> gpu.turning(board(boards, gpu.uuid()), earlier, overNanos))
                .sorted(Comparator.comparingInt(TopGpu::index).thenComparing(TopGpu::uuid))
                .toList();
    }

    private static TopGpu of(TenantGpu gpu) {
        return new TopGpu(gpu.index(), gpu.uuid(), gpu.name(), gpu.totalBytes(), gpu.usedBytes(), UNKNOWN, 0, -1);
    }

    private TopGpu with(TopGpu tenant) {
        return new TopGpu(index, uuid, name, totalBytes, tenantBytes + tenant.tenantBytes,
                otherBytes == UNKNOWN ? UNKNOWN : Math.max(0, otherBytes - tenant.tenantBytes), 0, -1);
    }

    private static Optional<BoardState> board(List<BoardState> boards, String uuid) {
        return boards.stream().filter(board -> board.uuid().equals(uuid) && !board.tenants().isEmpty()).findFirst();
    }

    private TopGpu turning(Optional<BoardState> board, TopLook earlier, long overNanos) {
        if (board.isEmpty()) {
            return this;
        }
        long now = board.get().handOvers() + board.get().seized();
        long before = earlier.gpus().stream().filter(gpu -> gpu.uuid.equals(uuid)).mapToLong(TopGpu::turns).findFirst().orElse(now);
        long perSecond = overNanos == 0 ? -1 : Math.max(0, Math.round((now - before) * NANOS / overNanos));
        return new TopGpu(index, uuid, name, totalBytes, tenantBytes, otherBytes, now, perSecond);
    }

    long usedBytes() {
        return tenantBytes + Math.max(0, otherBytes);
    }
}
