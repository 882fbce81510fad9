package sluice.region.boards;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import sluice.region.TestRegion;
import sluice.region.layout.BoardLayout;
import sluice.region.layout.BoardProcessView;
import sluice.region.layout.BoardTenantView;
import sluice.region.limits.Priority;
import sluice.region.place.Identity;
import sluice.region.place.RuntimeDirectory;

class BoardTest {
    @TempDir
    private Path folder;

    private RuntimeDirectory directory;
    private Path file;
    private Board board;

    @BeforeEach
    void create() throws Exception {
        directory = TestRegion.directory(folder);
        file = TestBoard.create(directory);
        board = Board.openReadWrite(file);
    }

    @AfterEach
    void close() {
        board.close();
    }

    @Test
    void shouldFindBoardsByTheirNames() throws Exception {
        Files.createFile(folder.resolve("board-short"));
        Files.createFile(folder.resolve("board-" + "x".repeat(32)));
        Files.createFile(folder.resolve("." + file.getFileName() + ".tmp"));

        assertThat(Board.files(directory)).containsExactly(file);
    }

    @Test
    void shouldShowTheHolderAndTheWaitingTenants() {
        TestBoard.tenant(board, 3, 33, Identity.self());
        TestBoard.tenant(board, 7, 77, Identity.self());
        process(0, 3, Identity.self(), 0);
        process(1, 7, Identity.self(), 2);
        board.tenant(3).heldNanos(1_000_000);
        board.turn().beganNanos(System.nanoTime() - 5_000_000);
        board.turn().word(9 << 8 | 4);
        board.turn().ready(9 << 8 | 4);
        board.process(0).busyNanos(System.nanoTime() + 60_000_000_000L);

        BoardState state = board.read();

        assertThat(state.uuid()).isEqualTo("GPU-00112233-4455-6677-8899-aabbccddeeff");
        assertThat(state.tenants()).hasSize(2);
        BoardTenant holder = state.tenant(33).orElseThrow();
        assertThat(holder.holds()).isTrue();
        assertThat(holder.wants()).isTrue();
        assertThat(holder.heldNanos()).isGreaterThanOrEqualTo(6_000_000);
        BoardTenant waiter = state.tenant(77).orElseThrow();
        assertThat(waiter.holds()).isFalse();
        assertThat(waiter.waitingNanos()).isGreaterThanOrEqualTo(3_000_000);
    }

    private void process(int entry, int tenant, Identity identity, int waiting) {
        BoardProcessView process = board.process(entry);
        board.turn().processes(Math.max(board.turn().processes(), entry + 1));
        process.tenant(tenant);
        process.waiting(waiting);
        process.waitingNanos(System.nanoTime() - 3_000_000);
        process.owner(identity.word());
    }

    @Test
    void shouldLeaveOutTheDead() {
        TestBoard.tenant(board, 0, 11, TestRegion.DEAD);
        TestBoard.tenant(board, 1, 22, TestRegion.DEAD);
        process(0, 0, TestRegion.DEAD, 5);
        process(1, 1, Identity.self(), 0);
        process(2, 1, TestRegion.DEAD, 1);

        BoardState state = board.read();

        assertThat(state.tenants()).extracting(BoardTenant::key).containsExactly(22L);
        assertThat(state.tenants().getFirst().processes()).isEqualTo(1);
        assertThat(state.tenants().getFirst().wants()).isFalse();
    }

    @Test
    void shouldBelieveInTheLockOfAProcessOfAnotherNamespace() throws Exception {
        TestBoard.tenant(board, 0, 11, TestRegion.DEAD);
        process(3, 0, TestRegion.DEAD, 1);
        board.process(3).pidNamespace(4711);
        board.process(3).sign(TestRegion.DEAD.word());
        long place = BoardLayout.PROCESS_OFFSET + 3L * BoardLayout.PROCESS_BYTES;

        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE); FileLock lock = channel.lock(place, 1, false)) {
            assertThat(lock.isValid()).isTrue();
            assertThat(board.read().tenants()).singleElement().extracting(BoardTenant::wants).isEqualTo(true);
        }

        assertThat(board.read().tenants()).isEmpty();
    }

    @Test
    void shouldSayHowLongTurnsAre() {
        TestBoard.tenant(board, 0, 11, Identity.self());
        board.tenant(0).weight(3);
        assertThat(board.read().tenants().getFirst().lengthNanos()).isEqualTo(30_000_000);
        board.tenant(0).turnMicros(2000);
        assertThat(board.read().tenants().getFirst().lengthNanos()).isEqualTo(6_000_000);
        board.tenant(0).planNanos(4_000_000);
        assertThat(board.read().tenants().getFirst().lengthNanos()).isEqualTo(4_000_000);
    }

    @Test
    void shouldReadABoardWithInvalidValues() {
        TestBoard.tenant(board, 0, 11, Identity.self());
        process(0, 4_000_000, Identity.self(), 1);
        board.turn().word(255);
        board.turn().beganNanos(-1);
        board.tenant(0).weight(0);
        board.tenant(0).priority(77);

        assertThat(board.read().tenants()).singleElement().extracting(BoardTenant::priority).isEqualTo(Priority.HIGH);
    }

    @Test
    void shouldReadABoardWithAnyWord() {
        Random random = new Random(17);
        for (int round = 0; round < 200; round++) {
            for (int entry = 0; entry < 8; entry++) {
                BoardTenantView tenant = board.tenant(entry);
                tenant.owner(random.nextLong());
                tenant.weight(random.nextInt() & 0xffffffffL);
                tenant.turnMicros(random.nextInt() & 0xffffffffL);
                tenant.planNanos(random.nextLong());
                tenant.balanceNanos(random.nextLong());
                process(entry, random.nextInt(300), new Identity(random.nextLong() & Long.MAX_VALUE), random.nextInt(3));
                board.process(entry).pidNamespace(4711);
                board.process(entry).busyNanos(random.nextLong());
                board.process(entry).waitingNanos(random.nextLong());
            }
            board.turn().processes(random.nextInt() & 0xffffffffL);
            board.turn().word(random.nextLong());
            board.turn().beganNanos(random.nextLong());

            assertThat(board.read().tenants()).allSatisfy(tenant -> {
                assertThat(tenant.lengthNanos()).isBetween(0L, 1_000_000_000L * 1_000_000L);
                assertThat(tenant.waitingNanos()).isNotNegative();
            });
        }
    }

    @Test
    void shouldRefuseWhatIsNoBoard() throws Exception {
        Path text = Files.writeString(folder.resolve("board-" + "0".repeat(32)), "x".repeat(50_000));
        Path empty = Files.createFile(folder.resolve("board-" + "1".repeat(32)));

        assertThatThrownBy(() -> Board.openReadOnly(text)).hasMessageContaining("is no board");
        assertThatThrownBy(() -> Board.openReadOnly(empty)).hasMessageContaining("is no board");
        assertThatThrownBy(() -> Board.openReadOnly(folder.resolve("none"))).hasMessageContaining("cannot open board");
        board.header().layout(99);
        assertThatThrownBy(() -> Board.openReadOnly(file)).hasMessageContaining("layout 99").hasMessageContaining("layout " + BoardLayout.LAYOUT);
    }
}
