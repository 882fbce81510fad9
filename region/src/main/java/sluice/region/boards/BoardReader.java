package sluice.region.boards;

import java.util.ArrayList;
import java.util.List;
import sluice.linux.FileLocks;
import sluice.region.TenantGpu;
import sluice.region.TenantReader;
import sluice.region.layout.BoardLayout;
import sluice.region.layout.BoardProcessView;
import sluice.region.layout.BoardTenantView;
import sluice.region.layout.BoardTurnView;
import sluice.region.limits.Priority;
import sluice.region.place.Identity;
import sluice.region.place.Life;
import sluice.region.place.Printable;
import sluice.region.place.Processes;

/// Decodes a board. Fields change while they are read, and any tenant can write them: each is read once and put within bounds. An
/// impossible time counts as unknown.
final class BoardReader {
    private static final long HOLDER_MASK = 0xff;
    private static final long AHEAD_NANOS = 60_000_000_000L;
    private static final long LONGEST_MICROS = 1_000_000;
    private static final long MOST_WEIGHT = 1_000_000;

    private final Board board;
    private final Processes known;
    private final long nowNanos = System.nanoTime();
    private final long pidNamespace = TenantReader.pidNamespace();
    private final int[] processes = new int[BoardLayout.TENANT_COUNT];
    private final long[] waitingNanos = new long[BoardLayout.TENANT_COUNT];
    private final boolean[] busy = new boolean[BoardLayout.TENANT_COUNT];
    private final Life life;

    BoardReader(Board board, Processes known) {
        this.board = board;
        this.known = known;
        life = new Life(board.file());
    }

    BoardState read() {
        try (life) {
            return decode();
        }
    }

    private BoardState decode() {
        BoardTurnView turn = board.turn();
        long word = turn.word();
        int holder = (int) (word & HOLDER_MASK) - 1;
        long began = turn.ready() == word ? past(turn.beganNanos()) : nowNanos;
        int taken = (int) Math.min(turn.processes(), BoardLayout.PROCESS_COUNT);
        for (int entry = 0; entry < taken; entry++) {
            process(board.process(entry), board.processPlace(entry));
        }
        List<BoardTenant> tenants = new ArrayList<>();
        for (int entry = 0; entry < BoardLayout.TENANT_COUNT; entry++) {
            BoardTenantView view = board.tenant(entry);
            long key = view.owner();
            if (key != 0 && (processes[entry] > 0 || known.isAlive(new Identity(view.rootIdentity()), 0))) {
                long underWay = entry == holder ? Math.max(0, nowNanos - began) : 0;
                tenants.add(tenant(entry, key, view, entry == holder, underWay));
            }
        }
        return new BoardState(board.file(), TenantGpu.uuid(board.header().uuid()), nowNanos, turn.beganNanos(), turn.endsNanos(),
                turn.handOvers(), turn.seized(), List.copyOf(tenants));
    }

    /// A time in the future counts as now.
    private long past(long nanos) {
        return nanos - nowNanos > 0 ? nowNanos : nanos;
    }

    private void process(BoardProcessView process, long place) {
        long owner = process.owner();
        long tenant = process.tenant();
        if (owner <= 0 || tenant < 0 || tenant >= processes.length || !isAlive(process, owner, place)) {
            return;
        }
        int at = (int) tenant;
        processes[at]++;
        long left = process.busyNanos() - nowNanos;
        busy[at] |= left > 0 && left <= AHEAD_NANOS;
        if (process.waiting() > 0) {
            waitingNanos[at] = Math.max(waitingNanos[at], Math.max(1, nowNanos - past(process.waitingNanos())));
        }
    }

    /// If a process holds a lock, the lock decides. Otherwise only a process of the same pid namespace can check.
    private boolean isAlive(BoardProcessView process, long owner, long place) {
        FileLocks.State state = process.sign() == owner ? life.of(place) : FileLocks.State.UNKNOWN;
        if (state != FileLocks.State.UNKNOWN) {
            return state == FileLocks.State.HELD;
        }
        boolean foreign = process.pidNamespace() != 0 && pidNamespace != 0 && process.pidNamespace() != pidNamespace;
        return foreign || known.isAlive(new Identity(owner), process.image());
    }

    private BoardTenant tenant(int entry, long key, BoardTenantView view, boolean holds, long underWayNanos) {
        return new BoardTenant(entry, key, Printable.of(view.name()), (int) Math.clamp(view.weight(), 1, MOST_WEIGHT), Priority.of(view.priority()),
                view.exclusive() != 0, Math.clamp(view.turnMicros(), 0, LONGEST_MICROS), Math.clamp(view.planNanos(), 0, LONGEST_MICROS * 1000), view.balanceNanos(), view.heldNanos() + underWayNanos,
                view.turns(), holds, busy[entry], waitingNanos[entry], processes[entry]);
    }
}
