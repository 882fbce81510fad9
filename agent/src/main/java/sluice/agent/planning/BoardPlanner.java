package sluice.agent.planning;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import sluice.api.model.PlannedBoard;
import sluice.planner.Plan;
import sluice.planner.TenantDemand;
import sluice.region.Region;
import sluice.region.boards.Board;
import sluice.region.boards.BoardState;
import sluice.region.boards.BoardTenant;
import sluice.region.boards.Boards;
import sluice.region.layout.BoardTenantView;
import sluice.region.layout.GpuView;
import sluice.region.layout.RegionLayout;
import sluice.region.limits.ComputeLimits;
import sluice.region.limits.LimitFields;
import sluice.region.place.Processes;
import sluice.region.place.RuntimeDirectory;

/// Plans for one GPU: passes the state of board and regions to the planner, and writes its answer to the board.
final class BoardPlanner implements AutoCloseable {
    private static final int NO_ENTRY = -1;

    private final RuntimeDirectory directory;
    private final Board board;
    private final Processes processes;
    private final byte[] uuid;
    private Plan plan = Plan.NONE;

    BoardPlanner(RuntimeDirectory directory, Board board, Processes processes) {
        this.directory = directory;
        this.processes = processes;
        this.board = board;
        uuid = board.header().uuid();
    }

    /// Looks once and plans. The lengths of turns are those that the tenants have from now on.
    PlannedBoard plan(Regions regions) {
        BoardState state = board.read(processes);
        List<TenantDemand> states = new ArrayList<>();
        for (BoardTenant tenant : state.tenants()) {
            Optional<Region> region = regions.find(directory, tenant.key(), state.readNanos());
            region.ifPresent(found -> follow(board.tenant(tenant.entry()), tenant, LimitFields.compute(found.limits())));
            states.add(state(tenant, region));
        }
        plan = plan.next(state.readNanos(), states);
        List<PlannedBoard.Turn> turns = new ArrayList<>();
        for (BoardTenant tenant : state.tenants()) {
            long length = plan.lengthNanos(tenant.key());
            BoardTenantView entry = board.tenant(tenant.entry());
            if (entry.owner() == tenant.key()) {
                entry.planNanos(length);
            }
            turns.add(new PlannedBoard.Turn(tenant.key(), tenant.name(), length));
        }
        return new PlannedBoard(state.uuid(), turns);
    }

    /// The libraries follow a change of limits, too. This updates the entry of a tenant that only waits.
    private static void follow(BoardTenantView entry, BoardTenant seen, ComputeLimits limits) {
        boolean same = seen.weight() == limits.weight() && seen.priority() == limits.priority()
                && seen.exclusive() == limits.exclusive() && seen.turnMicros() == limits.turnMicros();
        if (!same && entry.owner() == seen.key()) {
            Boards.enter(entry, limits);
        }
    }

    /// Without the region of a tenant, its entry is used alone.
    private TenantDemand state(BoardTenant tenant, Optional<Region> region) {
        ComputeLimits limits = region.map(found -> LimitFields.compute(found.limits())).orElse(new ComputeLimits(
                ComputeLimits.NONE.caps(), true, tenant.weight(), tenant.priority(), tenant.exclusive(), (int) tenant.turnMicros()));
        int entry = region.map(this::gpuEntry).orElse(NO_ENTRY);
        int cap = entry == NO_ENTRY ? 0 : limits.caps().permille(region.get().gpu(entry).index());
        long waited = entry == NO_ENTRY ? 0 : region.get().share(entry).turnWaitedNanos();
        return new TenantDemand(tenant.key(), limits.weight(), limits.priority().value(), limits.exclusive(), cap,
                limits.turnMicros() * 1000L, tenant.wants(), tenant.heldNanos(), tenant.turns(), waited + tenant.waitingNanos());
    }

    /// Where the tenant's region has this GPU.
    private int gpuEntry(Region region) {
        for (int entry = 0; entry < RegionLayout.GPU_COUNT; entry++) {
            GpuView gpu = region.gpu(entry);
            if (gpu.owner() == 1 && Arrays.equals(gpu.uuid(), uuid)) {
                return entry;
            }
        }
        return NO_ENTRY;
    }

    @Override
    public void close() {
        board.close();
    }
}
