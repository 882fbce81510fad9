package sluice.agent.registration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import sluice.fault.Fault;
import sluice.region.boards.Board;
import sluice.region.place.Identity;
import sluice.region.place.RuntimeDirectory;
import sluice.region.place.ThisProcess;

/// Boards that tenants of several users share: no tenant can cut one, and the next agent has the same.
@Fault(kind = Fault.Kind.HOSTILE_USERS, of = "boards that the agent hands out")
class HandedBoardsTest {
    private static final String UUID = "0123456789abcdef".repeat(2);

    @TempDir
    private Path folder;

    private RuntimeDirectory directory;
    private final List<String> problems = new ArrayList<>();
    private final List<Process> tenants = new ArrayList<>();

    @BeforeEach
    void start() throws Exception {
        assumeTrue(ThisProcess.current().uid() == 0 && Files.isExecutable(Path.of("/usr/bin/python3")), "root and python3 are needed");
        directory = new RuntimeDirectory(Files.createDirectory(folder.resolve("run"), PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------"))));
    }

    @AfterEach
    void stop() {
        tenants.forEach(Process::destroyForcibly);
    }

    /// A process that has mapped a descriptor of this one, and says what came of its script, in which `fd` is the descriptor.
    private String tenant(int descriptor, String script) throws IOException {
        String program = "import os,mmap,fcntl\nfd=os.open('/proc/%d/fd/%d',os.O_RDWR)\nboard=mmap.mmap(fd,%d)\n".formatted(ProcessHandle.current().pid(), descriptor, Board.BYTES)
                + script + "\nos.close(fd)\nprint('ready',flush=True)\ninput()\n";
        Process process = new ProcessBuilder("/usr/bin/python3", "-c", program).redirectErrorStream(true).start();
        tenants.add(process);
        String said = "";
        for (String line = process.inputReader().readLine(); line != null && !line.equals("ready"); line = process.inputReader().readLine()) {
            said += line + "\n";
        }
        return said;
    }

    private static String number(HandedBoards boards) throws Exception {
        return Long.toString(boards.sealed(UUID).descriptor().status().inode());
    }

    private HandedBoards next() {
        HandedBoards boards = new HandedBoards(directory);
        Set<Identity> processes = Set.copyOf(tenants.stream().map(process -> Identity.of(process.pid()).orElseThrow()).toList());
        boards.adopt(processes, problems::add);
        return boards;
    }

    @Test
    void shouldHaveTheSameBoardAfterARestart() throws Exception {
        String number;
        try (HandedBoards first = new HandedBoards(directory)) {
            number = number(first);
            tenant(first.sealed(UUID).descriptor().number(), "");
        }
        try (HandedBoards second = next()) {
            assertThat(number(second)).isEqualTo(number);
            assertThat(Board.files(directory)).hasSize(1);
        }
        try (HandedBoards third = next()) {
            assertThat(number(third)).as("and after another").isEqualTo(number);
        }
        assertThat(problems).isEmpty();
        assertThat(Board.files(directory)).isEmpty();
    }

    @Test
    void shouldNotLetATenantCutOrUnsealIt() throws Exception {
        try (HandedBoards boards = new HandedBoards(directory)) {
            String said = tenant(boards.sealed(UUID).descriptor().number(), """
                    def attempt(what):
                        try:
                            what()
                            print('done')
                        except OSError as e:
                            print(e.errno)
                    attempt(lambda: os.ftruncate(fd, 0))
                    attempt(lambda: os.ftruncate(fd, 1 << 20))
                    attempt(lambda: fcntl.fcntl(fd, 1033, 16))
                    attempt(lambda: os.ftruncate(os.open('/proc/self/fd/%d' % fd, os.O_RDWR), 0))""");
            assertThat(said).as("EPERM each time").isEqualTo("1\n".repeat(4));
        }
    }

    @Test
    void shouldMakeNoMoreBoardsThanAMachineHasGpus() {
        try (HandedBoards boards = new HandedBoards(directory)) {
            for (int gpu = 0; gpu < 64; gpu++) {
                boards.sealed("%032x".formatted(gpu));
            }
            assertThatThrownBy(() -> boards.sealed("f".repeat(32))).hasMessageContaining("boards for 64 GPUs already");
            assertThat(boards.sealed("%032x".formatted(63)).stays()).as("one that is there").isTrue();
            assertThat(Board.files(directory)).hasSize(64);
        }
    }

    /// The memory that a tenant made itself is not sealed, or has another number.
    @Test
    void shouldNotTakeWhatATenantMadeForTheBoard() throws Exception {
        String number;
        String fake;
        try (HandedBoards first = new HandedBoards(directory)) {
            number = number(first);
            fake = tenant(first.sealed(UUID).descriptor().number(), """
                    fake=os.memfd_create('sluice-board', os.MFD_ALLOW_SEALING)
                    os.ftruncate(fake, %d)
                    other=mmap.mmap(fake, %d)
                    other[:]=board[:]
                    board.close()
                    print(os.fstat(fake).st_ino)""".formatted(Board.BYTES, Board.BYTES)).strip();
        }
        try (HandedBoards second = next()) {
            assertThat(number(second)).isNotIn(fake, number);
        }
        Files.writeString(directory.path().resolve("handed-boards"), UUID + " " + fake + "\n");
        try (HandedBoards third = next()) {
            assertThat(number(third)).as("not sealed").isNotEqualTo(fake);
        }
    }
}
