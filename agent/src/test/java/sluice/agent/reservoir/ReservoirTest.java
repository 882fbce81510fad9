package sluice.agent.reservoir;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import sluice.fault.Fault;
import sluice.linux.Descriptor;
import sluice.linux.FileRules;
import sluice.linux.MemoryPages;
import sluice.region.place.Identity;
import sluice.region.place.SluiceException;

/// The machine's reservoir: budgets, pages that are made and taken back, and no page that ever reaches another user.
@Timeout(60)
class ReservoirTest {
    private static final long MIB = 1L << 20;
    private static final long PLENTY = 1L << 40;

    private final AtomicLong free = new AtomicLong(PLENTY);
    private final AtomicLong wanted = new AtomicLong(PLENTY);
    private final Reservoir reservoir = new Reservoir(256 * MIB, free::get);
    private final List<Process> processes = new ArrayList<>();

    @AfterEach
    void end() throws Exception {
        reservoir.close();
        for (Process process : processes) {
            process.destroyForcibly().waitFor();
        }
    }

    private Identity process() throws IOException {
        Process process = new ProcessBuilder("sleep", "60").start();
        processes.add(process);
        return Identity.of(process.pid()).orElseThrow();
    }

    private Reservoir.Asker asker(Identity process, long uid, long limit) {
        return new Reservoir.Asker(process, uid, "tenant of " + uid, limit, wanted::get);
    }

    private static Path file(Reservoir.Grant answer) {
        return Path.of("/proc/self/fd/" + answer.descriptor().orElseThrow());
    }

    private static long inode(Reservoir.Grant answer) throws IOException {
        return (Long) Files.getAttribute(file(answer), "unix:ino");
    }

    private void awaitTaken(long bytes) throws InterruptedException {
        while (reservoir.takenBytes() != bytes || reservoir.isFilling()) {
            Thread.sleep(5);
        }
    }

    private static FileChannel open(Reservoir.Grant answer) throws IOException {
        return FileChannel.open(file(answer), StandardOpenOption.READ, StandardOpenOption.WRITE);
    }

    @Test
    void shouldMakeThePagesThatWereGranted() throws Exception {
        reservoir.ask(asker(process(), 1, 0), 130 * MIB, 0);

        awaitTaken(130 * MIB);
        assertThat(reservoir.grantedBytes()).isEqualTo(130 * MIB);
    }

    @Test
    void shouldGrantNoMoreThanTheBudgetTheLimitAndTheHostAllow() throws Exception {
        Identity first = process();
        var granted = reservoir.ask(asker(first, 1, 0), 100 * MIB, 0);

        assertThat(reservoir.ask(asker(process(), 2, 0), 157 * MIB, 0)).isEqualTo(new Reservoir.Grant(Optional.empty(), 156 * MIB));
        assertThat(reservoir.ask(asker(process(), 1, 150 * MIB), 51 * MIB, 0).leftBytes()).as("another process of the tenant").isEqualTo(50 * MIB);
        assertThat(reservoir.ask(asker(first, 1, 0), 256 * MIB, inode(granted)).descriptor()).as("its own counts once").isPresent();
        awaitTaken(256 * MIB);
        free.set(10 * MIB);
        assertThat(reservoir.ask(asker(first, 1, 0), 256 * MIB, inode(granted)).descriptor()).as("its memory is there already").isPresent();
    }

    @Test
    void shouldNotGrantMoreThanTheHostHas() throws Exception {
        free.set(64 * MIB);

        assertThat(reservoir.ask(asker(process(), 1, 0), 65 * MIB, 0).leftBytes()).isEqualTo(64 * MIB);
        assertThat(reservoir.grantedBytes()).isZero();
    }

    @Test
    @Fault(kind = Fault.Kind.EXHAUST, of = "a process that asks for host memory again and again")
    void shouldGiveAProcessOneFileHoweverOftenItAsks() throws Exception {
        Reservoir.Asker asker = asker(process(), 1, 0);
        var first = reservoir.ask(asker, 2 * MIB, 0);
        for (int time = 0; time < 10_000; time++) {
            assertThat(reservoir.ask(asker, 2 * MIB, 0)).isEqualTo(first);
        }

        assertThat(reservoir.processes()).isEqualTo(1);
        assertThat(reservoir.grantedBytes()).isEqualTo(2 * MIB);
        assertThatThrownBy(() -> reservoir.ask(asker, 4 * MIB, 4711)).isInstanceOf(SluiceException.class).hasMessageContaining("an agent before this one");
        assertThatThrownBy(() -> reservoir.ask(asker, 0, 0)).isInstanceOf(SluiceException.class);
    }

    @Test
    @Fault(kind = Fault.Kind.EXHAUST, of = "a user with very many processes that want host memory")
    void shouldBoundTheProcessesOfAUser() throws Exception {
        for (int number = 0; number < 256; number++) {
            reservoir.ask(asker(process(), 1, 0), 1, 0);
        }
        Identity next = process();
        assertThatThrownBy(() -> reservoir.ask(asker(next, 1, 0), 1, 0)).isInstanceOf(SluiceException.class).hasMessageContaining("too many processes");
        assertThat(reservoir.ask(asker(process(), 2, 0), 1, 0).descriptor()).as("another user").isPresent();

        for (Process process : processes.subList(0, 256)) {
            process.destroyForcibly().waitFor();
        }
        reservoir.ask(asker(next, 1, 0), 1, 0);
        assertThat(reservoir.processes()).as("those that do not live are forgotten").isEqualTo(2);
    }

    @Test
    void shouldRefuseAProcessThatIsAnotherByNow() throws Exception {
        Identity gone = Identity.of(process().pid(), 1);

        assertThatThrownBy(() -> reservoir.ask(asker(gone, 1, 0), 1, 0)).isInstanceOf(SluiceException.class).hasMessageContaining("ended");
        assertThat(reservoir.processes()).isZero();
    }

    @Test
    @Fault(kind = Fault.Kind.HOSTILE_USERS, of = "a process that passes its host memory on")
    void shouldTakeBackThePagesOfAProcessThatHasEnded() throws Exception {
        Identity process = process();
        var granted = reservoir.ask(asker(process, 1, 0), 64 * MIB, 0);
        awaitTaken(64 * MIB);
        try (FileChannel keeps = open(granted)) {
            keeps.write(ByteBuffer.wrap("secret".getBytes()), 0);
            assertThatThrownBy(() -> keeps.truncate(0)).isInstanceOf(IOException.class);
            reservoir.follow();
            ByteBuffer read = ByteBuffer.allocate(6);
            keeps.read(read, 0);
            assertThat(new String(read.array())).as("it lives").isEqualTo("secret");

            processes.getFirst().destroyForcibly().waitFor();
            reservoir.follow();
            keeps.read(read.clear(), 0);
            assertThat(read.array()).containsOnly(0);
            assertThat(reservoir.takenBytes()).isZero();
            assertThat(reservoir.grantedBytes()).isZero();
        }
    }

    @Test
    @Fault(kind = Fault.Kind.HOSTILE_USERS, of = "a process that goes on as another user")
    void shouldNotShowAnotherUserWhatTheProcessHadBefore() throws Exception {
        Identity process = process();
        var before = reservoir.ask(asker(process, 1, 0), 2 * MIB, 0);
        awaitTaken(2 * MIB);
        long number = inode(before);
        try (FileChannel first = open(before)) {
            first.write(ByteBuffer.wrap("secret".getBytes()), 0);

            assertThatThrownBy(() -> reservoir.ask(asker(process, 2, 0), 2 * MIB, number)).hasMessageContaining("another user's");
            assertThat(reservoir.takenBytes()).as("it may be in use").isEqualTo(2 * MIB);
            var after = reservoir.ask(asker(process, 2, 0), 2 * MIB, 0);
            assertThat(inode(after)).isNotEqualTo(number);
            ByteBuffer read = ByteBuffer.allocate(6);
            first.read(read, 0);
            assertThat(read.array()).containsOnly(0);
        }
    }

    @Test
    void shouldCountPagesThatAProcessHasGivenBack() throws Exception {
        Reservoir.Asker asker = asker(process(), 1, 0);
        var granted = reservoir.ask(asker, 128 * MIB, 0);
        awaitTaken(128 * MIB);
        try (var memory = Descriptor.again(file(granted), FileRules.of(FileRules.ANYBODY, PLENTY), true)) {
            MemoryPages.giveBack(memory, 128 * MIB);
        }

        reservoir.follow();
        assertThat(reservoir.grantedBytes()).isZero();
        reservoir.ask(asker, 64 * MIB, inode(granted));
        awaitTaken(64 * MIB);
    }

    @Test
    void shouldMakeNoPagesThatNoProcessWants() throws Exception {
        wanted.set(64 * MIB);
        reservoir.ask(asker(process(), 1, 0), 192 * MIB, 0);

        awaitTaken(64 * MIB);
        Thread.sleep(100);
        assertThat(reservoir.takenBytes()).isEqualTo(64 * MIB);
    }

    @Test
    @Fault(kind = Fault.Kind.KILL, of = "the agent, while a job has its memory")
    void shouldLeaveLivingProcessesTheirMemory() throws Exception {
        var granted = reservoir.ask(asker(process(), 1, 0), 64 * MIB, 0);
        awaitTaken(64 * MIB);
        try (FileChannel memory = open(granted)) {
            memory.write(ByteBuffer.wrap("kept".getBytes()), 0);
            reservoir.close();
            ByteBuffer read = ByteBuffer.allocate(4);
            memory.read(read, 0);
            assertThat(new String(read.array())).isEqualTo("kept");
        }
    }

    @Test
    void shouldSeeWhatTheMachineAndTheGroupsLeave(@TempDir Path root) throws IOException {
        assertThat(new HostMemory(root).freeBytes()).isGreaterThan(PLENTY);
        write(root, "proc/meminfo", "MemTotal: 999999 kB\nMemAvailable:  204800 kB\n");
        assertThat(new HostMemory(root).freeBytes()).isEqualTo(190 * MIB);
        write(root, "proc/self/cgroup", "0::/system.slice/agent.service\n");
        write(root, "sys/fs/cgroup/system.slice/agent.service/memory.max", "max\n");
        write(root, "sys/fs/cgroup/system.slice/memory.max", (200 * MIB) + "\n");
        write(root, "sys/fs/cgroup/system.slice/memory.current", (120 * MIB) + "\n");
        assertThat(new HostMemory(root).freeBytes()).isEqualTo(76 * MIB);
    }

    private static void write(Path root, String name, String text) throws IOException {
        Files.createDirectories(root.resolve(name).getParent());
        Files.writeString(root.resolve(name), text);
    }
}
