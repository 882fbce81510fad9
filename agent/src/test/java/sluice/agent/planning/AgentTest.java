package sluice.agent.planning;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import sluice.api.model.PlannedBoard;
import sluice.region.Region;
import sluice.region.RegionDraft;
import sluice.region.boards.Board;
import sluice.region.layout.BoardLayout;
import sluice.region.layout.BoardTenantView;
import sluice.region.layout.GpuView;
import sluice.region.limits.ComputeCaps;
import sluice.region.limits.ComputeLimits;
import sluice.region.limits.Limits;
import sluice.region.limits.MemoryLimits;
import sluice.region.limits.OnError;
import sluice.region.limits.OnOom;
import sluice.region.limits.Priority;
import sluice.region.place.Identity;
import sluice.region.place.RuntimeDirectory;

/// An agent beside boards and regions that are written as libraries would.
class AgentTest {
    private static final byte[] UUID = new byte[16];
    private static final Identity DEAD = new Identity(1L << 22 | 4_000_000);

    @TempDir
    private Path folder;

    private RuntimeDirectory directory;
    private Board board;
    private Agent agent;
    private final List<PlannedBoard> changes = new ArrayList<>();

    @BeforeEach
    void create() throws Exception {
        Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwx------"));
        directory = new RuntimeDirectory(folder);
        board = createBoard();
        agent = new Agent(directory, changes::add);
    }

    private Board createBoard() throws Exception {
        Path file = folder.resolve("board-" + "0".repeat(32));
        try (Arena arena = Arena.ofConfined();
                FileChannel channel = FileChannel.open(file, StandardOpenOption.CREATE_NEW, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            MemorySegment segment = channel.map(FileChannel.MapMode.READ_WRITE, 0, BoardLayout.BOARD_BYTES, arena);
            Board.initialise(segment, new byte[16]);
        }
        return Board.openReadWrite(file);
    }

    @AfterEach
    void close() {
        agent.close();
        board.close();
    }

    private Path join(int entry, String name, ComputeLimits limits, Identity root) {
        Path file = Region.create(directory, new RegionDraft(name, "", root, new Limits(MemoryLimits.none(), limits, OnOom.FAIL, OnError.FAIL)));
        try (Region region = Region.openReadWrite(file)) {
            GpuView gpu = region.gpu(0);
            gpu.uuid(UUID);
            gpu.index(2);
            gpu.owner(1);
            BoardTenantView tenant = board.tenant(entry);
            tenant.name(name);
            tenant.rootIdentity(root.word());
            tenant.owner(region.header().createdNanos());
        }
        return file;
    }

    private static ComputeLimits weight(int weight) {
        return new ComputeLimits(ComputeCaps.none(), true, weight, Priority.NORMAL, false, 0);
    }

    private long planNanos(int entry) {
        return board.tenant(entry).planNanos();
    }

    @Test
    void shouldTakeOverWhatRuns() {
        join(0, "three", weight(3), Identity.self());
        join(4, "one", weight(1), Identity.self());

        agent.look();

        assertThat(planNanos(0)).isEqualTo(15_000_000);
        assertThat(planNanos(4)).isEqualTo(5_000_000);
        assertThat(changes).hasSize(1);
        assertThat(changes.getFirst().turns()).extracting(PlannedBoard.Turn::tenant).containsExactly("three", "one");
    }

    @Test
    void shouldFollowTenantsThatJoinAndLeave() {
        join(0, "first", weight(1), Identity.self());
        agent.look();
        assertThat(planNanos(0)).isEqualTo(10_000_000);
        join(1, "second", weight(4), Identity.self());
        agent.look();
        assertThat(planNanos(0)).isEqualTo(4_000_000);
        board.tenant(1).rootIdentity(DEAD.word());
        agent.look();
        assertThat(planNanos(0)).isEqualTo(10_000_000);
        agent.look();
        assertThat(changes).hasSize(3);
    }

    @Test
    void shouldFollowAChangeOfLimits() {
        Path file = join(0, "first", weight(1), Identity.self());
        join(1, "second", weight(1), Identity.self());
        agent.look();
        try (Region region = Region.openReadWrite(file)) {
            region.limits().weight(3);
            region.limits().priority(0);
        }
        agent.look();

        assertThat(planNanos(0)).isEqualTo(15_000_000);
        assertThat(board.tenant(0).weight()).isEqualTo(3);
    }

    @Test
    void shouldGiveACappedTenantNoMoreThanItsCapOnThisGpu() {
        join(0, "capped", new ComputeLimits(ComputeCaps.parse("2=10%"), false, 1, Priority.NORMAL, false, 0), Identity.self());
        join(1, "other", weight(1), Identity.self());

        agent.look();

        assertThat(planNanos(0)).isEqualTo(2_000_000);
        assertThat(planNanos(1)).isEqualTo(18_000_000);
    }

    @Test
    void shouldPlanForATenantWithoutARegionByItsEntry() throws Exception {
        Files.delete(join(0, "lost", weight(1), Identity.self()));
        board.tenant(0).weight(3);
        join(1, "other", weight(1), Identity.self());

        agent.look();

        assertThat(planNanos(0)).isEqualTo(15_000_000);
        assertThat(planNanos(1)).isEqualTo(5_000_000);
    }

    @Test
    void shouldPlanOnABoardThatWasReplaced() throws Exception {
        join(0, "first", weight(1), Identity.self());
        agent.look();
        board.close();
        Files.delete(folder.resolve("board-" + "0".repeat(32)));
        agent.look();
        board = createBoard();
        join(7, "second", weight(1), Identity.self());

        agent.look();

        assertThat(planNanos(7)).isEqualTo(10_000_000);
    }

    @Test
    void shouldPassOverWhatIsNoBoard() throws Exception {
        Files.writeString(folder.resolve("board-" + "1".repeat(32)), "no board");
        join(0, "first", weight(1), Identity.self());

        agent.look();

        assertThat(planNanos(0)).isEqualTo(10_000_000);
    }
}
