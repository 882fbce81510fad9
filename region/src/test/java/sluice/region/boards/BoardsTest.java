package sluice.region.boards;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import sluice.region.LimitsChange;
import sluice.region.Tenant;
import sluice.region.TestRegion;
import sluice.region.limits.Limit;
import sluice.region.limits.Priority;
import sluice.region.place.AgentLock;
import sluice.region.place.Identity;
import sluice.region.place.RuntimeDirectory;

class BoardsTest {
    @TempDir
    private Path folder;

    private RuntimeDirectory directory;

    @BeforeEach
    void create() throws Exception {
        directory = TestRegion.directory(folder);
        Path file = TestBoard.create(directory);
        try (Board board = Board.openReadWrite(file)) {
            TestBoard.tenant(board, 5, 55, Identity.self());
            board.tenant(5).planNanos(7_000_000);
        }
    }

    private BoardTenant tenant() {
        return Boards.read(directory).getFirst().tenants().getFirst();
    }

    @Test
    void shouldTakeBackThePlansOfAnAgentThatHasEnded() {
        AgentLock.take(directory, 4711).orElseThrow().close();

        Boards.takePlansBack(directory);

        assertThat(tenant().planNanos()).isZero();
        assertThat(tenant().lengthNanos()).isEqualTo(10_000_000);
        assertThat(AgentLock.takeAfterAgent(directory)).isEmpty();
    }

    @Test
    void shouldLeaveThePlansOfAnAgentThatRuns() {
        try (AgentLock lock = AgentLock.take(directory, 4711).orElseThrow()) {
            assertThat(lock).isNotNull();
            Boards.takePlansBack(directory);

            assertThat(tenant().planNanos()).isEqualTo(7_000_000);
            assertThat(AgentLock.holder(directory)).contains(4711L);
            assertThat(AgentLock.take(directory, 4712)).isEmpty();
        }
        assertThat(AgentLock.holder(directory)).isEmpty();
    }

    @Test
    void shouldMakeNoFileWhereNoAgentWas() {
        Boards.takePlansBack(directory);

        assertThat(AgentLock.holder(directory)).isEmpty();
        assertThat(folder.resolve("agent.lock")).doesNotExist();
        assertThat(tenant().planNanos()).isEqualTo(7_000_000);
    }

    @Test
    void shouldWriteWhatATenantAsksForToItsEntry() throws Exception {
        Path region = TestRegion.create(folder, "job", Identity.self());
        Tenant tenant = new LimitsChange(Map.of(Limit.WEIGHT, "3", Limit.PRIORITY, "high", Limit.EXCLUSIVE, "true", Limit.TURN, "2ms")).apply(region);
        try (Board board = Board.openReadWrite(Board.files(directory).getFirst())) {
            TestBoard.tenant(board, 6, tenant.createdNanos(), Identity.self());
        }

        Boards.enter(directory, tenant);

        BoardTenant entry = Boards.read(directory).getFirst().tenant(tenant.createdNanos()).orElseThrow();
        assertThat(entry.weight()).isEqualTo(3);
        assertThat(entry.priority()).isEqualTo(Priority.HIGH);
        assertThat(entry.exclusive()).isTrue();
        assertThat(entry.turnMicros()).isEqualTo(2000);
        assertThat(tenant().weight()).isEqualTo(1);
    }

    @Test
    void shouldPassOverBoardsThatCannotBeRead() throws Exception {
        Files.writeString(folder.resolve("board-" + "0".repeat(32)), "no board");

        assertThat(Boards.read(directory)).hasSize(1);
    }
}
