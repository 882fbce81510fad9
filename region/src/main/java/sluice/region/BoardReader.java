package sluice.region;

import java.util.ArrayList;
import java.util.List;

/// Decodes a board. Fields change while they are read: each is valid by itself. A time that makes no sense counts as past.
final class BoardReader {
    private static final long HOLDER_MASK = 0xff;

    private final Board board;
    private final Processes known;
    private final long nowNanos = System.nanoTime();
    private final long pidNamespace = TenantReader.pidNamespace();
    private final int[] processes = new int[BoardLayout.TENANT_COUNT];
    private final long[] waitingNanos = new long[BoardLayout.TENANT_COUNT];
    private final boolean[] busy = new boolean[BoardLayout.TENANT_COUNT];

    BoardReader(Board board, Processes known) {
        this.board = board;
        this.known = known;
    }

    BoardState read() {
        BoardTurnView turn = board.turn();
        long word = turn.word();
        int holder = (int) (word & HOLDER_MASK) - 1;
        long began = turn.ready() == word ? turn.beganNanos() : nowNanos;
        for (int entry = 0; entry < BoardLayout.PROCESS_COUNT; entry++) {
            process(board.process(entry));
        }
        List<BoardTenant> tenants = new ArrayList<>();
        for (int entry = 0; entry < BoardLayout.TENANT_COUNT; entry++) {
            BoardTenantView view = board.tenant(entry);
            if (view.owner() != 0 && (processes[entry] > 0 || known.isAlive(new Identity(view.rootIdentity()), 0))) {
                long underWay = entry == holder ? Math.max(0, nowNanos - began) : 0;
                tenants.add(tenant(entry, view, entry == holder, underWay));
            }
        }
        return new BoardState(board.file(), TenantGpu.uuid(board.header().uuid()), nowNanos, turn.beganNanos(), turn.endsNanos(),
                turn.handOvers(), turn.seized(), List.copyOf(tenants));
    }

    private void process(BoardProcessView process) {
        long owner = process.owner();
        long tenant = process.tenant();
        if (owner <= 0 || tenant >= processes.length || !isAlive(process, owner)) {
            return;
        }
        int at = (int) tenant;
        processes[at]++;
        busy[at] |= process.busyNanos() > nowNanos;
        if (process.waiting() > 0) {
            waitingNanos[at] = Math.max(waitingNanos[at], Math.max(1, nowNanos - process.waitingNanos()));
        }
    }

    /// Only a process of the same pid namespace can judge; of others it is believed that they live.
    private boolean isAlive(BoardProcessView process, long owner) {
        boolean foreign = process.pidNamespace() != 0 && pidNamespace != 0 && process.pidNamespace() != pidNamespace;
        return foreign || known.isAlive(new Identity(owner), process.image());
    }

    private BoardTenant tenant(int entry, BoardTenantView view, boolean holds, long underWayNanos) {
        return new BoardTenant(entry, view.owner(), view.name(), (int) Math.max(1, view.weight()), Priority.of(view.priority()),
                view.exclusive() != 0, view.turnMicros(), view.planNanos(), view.balanceNanos(), view.heldNanos() + underWayNanos,
                view.turns(), holds, busy[entry], waitingNanos[entry], processes[entry]);
    }
}
