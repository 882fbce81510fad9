package sluice.region.boards;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import sluice.region.Tenant;
import sluice.region.layout.BoardLayout;
import sluice.region.layout.BoardTenantView;
import sluice.region.limits.ComputeLimits;
import sluice.region.place.AgentLock;
import sluice.region.place.Processes;
import sluice.region.place.RuntimeDirectory;
import sluice.region.place.SluiceException;

/// All boards of a folder.
///
/// Without an agent there are no plans. Turns have the length that a tenant asks for times its weight, so shares are right for any set of
/// tenants. A plan of an ended agent would not fit a tenant that joins later, so the next tool clears it.
public final class Boards {
    private Boards() {}

    /// The states of the boards. Boards that cannot be read are left out.
    public static List<BoardState> read(RuntimeDirectory directory) {
        return read(directory, Processes.BY_PROC);
    }

    /// The same, for a caller that knows which processes live.
    public static List<BoardState> read(RuntimeDirectory directory, Processes known) {
        List<BoardState> states = new ArrayList<>();
        for (Path file : Board.files(directory)) {
            try (Board board = Board.openReadOnly(file)) {
                states.add(board.read(known));
            } catch (SluiceException | InternalError e) {
                // Gone since, or of another layout: its libraries refuse it as well. The error is the JVM's for a mapped page
                // that is not there: the file was truncated during the read.
            }
        }
        return states;
    }

    /// Clears the plans of an agent that has ended.
    public static void takePlansBack(RuntimeDirectory directory) {
        AgentLock.takeAfterAgent(directory).ifPresent(lock -> {
            try (lock) {
                change(directory, board -> tenants(board, tenant -> tenant.planNanos(0)));
                lock.clear();
            }
        });
    }

    /// Writes a tenant's limits of turns to the boards that it is on.
    public static void enter(RuntimeDirectory directory, Tenant tenant) {
        change(directory, board -> tenants(board, entry -> {
            if (entry.owner() == tenant.createdNanos()) {
                enter(entry, tenant.compute());
            }
        }));
    }

    /// Writes a tenant's limits of turns to its entry.
    public static void enter(BoardTenantView entry, ComputeLimits limits) {
        entry.weight(limits.weight());
        entry.priority(limits.priority().value());
        entry.exclusive(limits.exclusive() ? 1 : 0);
        entry.turnMicros(limits.turnMicros());
    }

    private static void tenants(Board board, Consumer<BoardTenantView> action) {
        for (int entry = 0; entry < BoardLayout.TENANT_COUNT; entry++) {
            BoardTenantView tenant = board.tenant(entry);
            if (tenant.owner() != 0) {
                action.accept(tenant);
            }
        }
    }

    private static void change(RuntimeDirectory directory, Consumer<Board> action) {
        for (Path file : Board.files(directory)) {
            try (Board board = Board.openReadWrite(file)) {
                action.accept(board);
            } catch (SluiceException | InternalError e) {
                // As in read.
            }
        }
    }
}
