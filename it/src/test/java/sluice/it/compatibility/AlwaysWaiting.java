package sluice.it.compatibility;

import java.nio.file.Path;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;
import sluice.region.boards.Board;
import sluice.region.layout.BoardLayout;
import sluice.region.layout.BoardProcessView;
import sluice.region.layout.BoardTenantView;

/// A tenant that always waits for the GPU and never uses it. A tenant that gives its turn away gives it to this one. Its work always seems
/// to have just ended, so the next tenant that wants the GPU takes the turn 300 µs later.
final class AlwaysWaiting implements AutoCloseable {
    private static final int ENTRY = BoardLayout.TENANT_COUNT - 1;
    private static final long ELSEWHERE = 1;
    private static final long BUSY_NANOS = 100_000;

    private final Board board;
    private final Thread thread;
    private volatile boolean ended;

    AlwaysWaiting(Path file) {
        board = Board.openReadWrite(file);
        BoardTenantView tenant = board.tenant(ENTRY);
        tenant.weight(1);
        tenant.exclusive(1);
        tenant.name("always-waiting");
        tenant.owner(1);
        BoardProcessView process = board.process(BoardLayout.PROCESS_COUNT - 1);
        process.pidNamespace(ELSEWHERE);
        process.tenant(ENTRY);
        process.waitingNanos(1);
        process.waiting(1);
        process.owner(1);
        board.turn().tenants(BoardLayout.TENANT_COUNT);
        board.turn().processes(BoardLayout.PROCESS_COUNT);
        board.turn().word(board.turn().word() & ~0xffL | ENTRY + 1);
        thread = Thread.ofPlatform().daemon().start(this::seemBusy);
    }

    private void seemBusy() {
        BoardProcessView process = board.process(BoardLayout.PROCESS_COUNT - 1);
        while (!ended) {
            process.waitingNanos(1);
            if (!holds(ENTRY) || process.busyNanos() < board.turn().beganNanos()) {
                process.busyNanos(System.nanoTime() + BUSY_NANOS);
            }
            LockSupport.parkNanos(BUSY_NANOS / 2);
        }
    }

    private boolean holds(int entry) {
        return (board.turn().word() & 0xff) == entry + 1;
    }

    /// How often a tenant had the turn, the one that it died with included.
    long holdsOf(String tenant) {
        int entry = IntStream.range(0, ENTRY).filter(at -> board.tenant(at).name().equals(tenant)).findFirst().orElseThrow();
        return board.tenant(entry).turns() + (holds(entry) ? 1 : 0);
    }

    @Override
    public void close() {
        ended = true;
        try {
            thread.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        board.close();
    }
}
