package sluice.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import sluice.cli.FakeAttendant.Doing;
import sluice.cli.output.ExitStatus;
import sluice.cli.output.Screen;
import sluice.region.Region;
import sluice.region.RegionDraft;
import sluice.region.Tenant;
import sluice.region.TenantState;
import sluice.region.layout.PauseView;
import sluice.region.limits.Limits;
import sluice.region.pause.Depth;
import sluice.region.pause.PauseStep;
import sluice.region.place.Identity;
import sluice.region.place.RuntimeDirectory;

/// With a process that answers as the library does.
@Timeout(60)
class PauseCommandTest {
    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();

    @TempDir
    private Path folder;
    private Path file;

    @BeforeEach
    void create() throws Exception {
        Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwx------"));
        file = Region.create(new RuntimeDirectory(folder), new RegionDraft("train", "python train.py", Identity.self(), Limits.NONE));
    }

    private int execute(String... args) {
        return Commands.line(new PrintWriter(out, true), new PrintWriter(err, true), new Screen(false, false), args).execute(args);
    }

    @Test
    void shouldPauseReleaseVacateAndResume() {
        try (FakeAttendant _ = new FakeAttendant(file, (command, pause) -> {
            pause.awayBytes(command.depth().isAway() ? 8L << 30 : 0);
            pause.stayingBytes(command.depth().isAway() ? 512L << 20 : 0);
            return Doing.ANSWER;
        })) {
            assertThat(execute("pause", file.toString())).isZero();
            assertThat(Tenant.read(file).state()).isEqualTo(TenantState.PAUSED);
            assertThat(execute("pause", file.toString(), "--release")).isZero();
            assertThat(Tenant.read(file).state()).isEqualTo(TenantState.EVICTED);
            assertThat(execute("pause", file.toString(), "--vacate")).isZero();
            assertThat(execute("resume", file.toString())).isZero();
            assertThat(Tenant.read(file).state()).isEqualTo(TenantState.RUNNING);
        }
        assertThat(out.toString().lines()).satisfiesExactly(
                line -> assertThat(line).startsWith("train is paused; its memory stays on the GPU ("),
                line -> assertThat(line).startsWith("train is released: 8.0 GiB are in host memory, 512.0 MiB stay on the GPU ("),
                line -> assertThat(line).startsWith("train is vacated: 8.0 GiB are in host memory, the driver's state is stored, nothing stays on the GPU ("),
                line -> assertThat(line).startsWith("train runs ("));
        assertThat(err.toString()).isEmpty();
    }

    @Test
    void shouldWithdrawWhatAProcessRefuses() {
        try (FakeAttendant _ = new FakeAttendant(file, (command, pause) -> {
            pause.reason("2.0 GiB of managed memory cannot move");
            return command.depth() == Depth.RELEASE ? Doing.REFUSE : Doing.ANSWER;
        })) {
            execute("pause", file.toString());
            assertThat(execute("pause", file.toString(), "--release")).isEqualTo(ExitStatus.CHECK_FAILED);
            assertThat(Tenant.read(file).asked().depth()).as("as before").isEqualTo(Depth.HOLD);
        }
        assertThat(err.toString()).contains("train could not release: 2.0 GiB of managed memory cannot move");
    }

    @Test
    void shouldWithdrawAPauseThatTakesTooLong() {
        try (FakeAttendant _ = new FakeAttendant(file, (command, pause) -> {
            FakeAttendant.tell(pause, PauseStep.DRAIN, 0, 0, "");
            return Doing.NOTHING;
        })) {
            assertThat(execute("pause", file.toString(), "--timeout", "100ms")).isEqualTo(ExitStatus.TIMED_OUT);
            assertThat(Tenant.read(file).asked().depth()).isEqualTo(Depth.RUN);
        }
        assertThat(err.toString()).contains("the pause is withdrawn (not done within 0.1 s; it was waiting for submitted work to end)");
    }

    @Test
    void shouldLetAResumeGoOn() {
        try (FakeAttendant _ = new FakeAttendant(file, (command, pause) -> {
            FakeAttendant.tell(pause, PauseStep.ROOM, 0, 0, "GPU 0 is full");
            return command.depth().isPause() ? Doing.ANSWER : Doing.NOTHING;
        })) {
            execute("pause", file.toString());
            assertThat(execute("resume", file.toString(), "--timeout", "100ms")).isEqualTo(ExitStatus.TIMED_OUT);
            assertThat(Tenant.read(file).state()).isEqualTo(TenantState.RESUMING);
            assertThat(Tenant.read(file).pause().reason()).isEqualTo("GPU 0 is full");
        }
        assertThat(err.toString()).contains("it goes on in the background");
    }

    private void vacated(Region region, long asideBytes) {
        region.gpu(0).totalBytes(16L << 30);
        region.gpu(0).name("a GPU");
        region.gpu(0).owner(1);
        region.account(0, 0).asideBytes(asideBytes);
        region.pause(0).stayingBytes(asideBytes);
        region.slot(0).storedNanos(System.nanoTime());
    }

    /// As the library does: it restores the driver's state only after a look.
    private static Doing restore(Region region, PauseView pause) {
        if (region.limits().roomNanos() <= region.slot(0).storedNanos()) {
            FakeAttendant.tell(pause, PauseStep.ROOM, 0, 0, "waits for a look");
            return Doing.NOTHING;
        }
        region.slot(0).storedNanos(0);
        region.account(0, 0).asideBytes(0);
        FakeAttendant.tell(pause, PauseStep.NONE, 0, 0, "");
        return Doing.ANSWER;
    }

    /// The state is stored only after the pause was withdrawn, so nobody looked for room until then.
    @Test
    void shouldBringAWithdrawnVacateBack() {
        try (Region region = Region.openReadWrite(file); FakeAttendant _ = new FakeAttendant(file, (command, pause) -> {
            if (command.depth() == Depth.VACATE) {
                FakeAttendant.tell(pause, PauseStep.STORE, 0, 0, "");
                return Doing.NOTHING;
            }
            if (pause.step() == PauseStep.STORE.number()) {
                LockSupport.parkNanos(300_000_000);
                vacated(region, 1L << 30);
            }
            return restore(region, pause);
        })) {
            assertThat(execute("pause", file.toString(), "--vacate", "--timeout", "100ms")).isEqualTo(ExitStatus.TIMED_OUT);
            assertThat(Tenant.read(file).state()).isEqualTo(TenantState.RUNNING);
            assertThat(region.slot(0).storedNanos()).isZero();
        }
        assertThat(err.toString()).contains("the pause is withdrawn (not done within 0.1 s; it was storing the driver's state); it does what it did before");
    }

    @Test
    void shouldSayThatAWithdrawnVacateIsNotBack() {
        try (Region region = Region.openReadWrite(file); FakeAttendant _ = new FakeAttendant(file, (command, pause) -> {
            if (command.depth() == Depth.VACATE) {
                vacated(region, 32L << 30);
                return Doing.NOTHING;
            }
            return restore(region, pause);
        })) {
            assertThat(execute("pause", file.toString(), "--vacate", "--timeout", "100ms")).isEqualTo(ExitStatus.TIMED_OUT);
        }
        assertThat(err.toString()).contains("GPU 0 has 16.0 GiB free, and tenant 'train' needs 32.1 GiB", "it is not back yet, it is waiting for room on the GPU; 'sluice resume train'")
                .doesNotContain("it does what it did before");
    }

    /// The command is written all the same, so an agent or a later look lets it go on.
    @Test
    void shouldAskAVacatedTenantWithoutRoomToResume() {
        try (Region region = Region.openReadWrite(file); FakeAttendant _ = new FakeAttendant(file, (command, pause) -> {
            if (command.depth() == Depth.VACATE) {
                vacated(region, 32L << 30);
                return Doing.ANSWER;
            }
            return restore(region, pause);
        })) {
            assertThat(execute("pause", file.toString(), "--vacate")).isZero();
            out.getBuffer().setLength(0);
            assertThat(execute("resume", file.toString(), "--no-wait")).isZero();
            assertThat(out.toString()).contains("train: asked to resume; it waits for a look for room on the GPU, and no agent looks; 'sluice resume train' goes on with it");
            assertThat(Tenant.read(file).asked().depth()).isEqualTo(Depth.RUN);
            assertThat(execute("resume", file.toString(), "--timeout", "300ms")).isEqualTo(ExitStatus.TIMED_OUT);
            assertThat(err.toString()).contains("train: not done yet (GPU 0 has 16.0 GiB free, and tenant 'train' needs 32.1 GiB; pause or end another job); it waits for a look",
                    "no agent looks");
            assertThat(execute("resume", file.toString(), "--timeout", "300ms", "--json")).isEqualTo(ExitStatus.TIMED_OUT);
            assertThat(out.toString()).contains("\"kind\" : \"resume\"", "\"state\" : \"running\"", "\"step\" : \"room\"", "GPU 0 has 16.0 GiB free");
            region.account(0, 0).asideBytes(8L << 30);
            assertThat(execute("resume", file.toString())).isZero();
        }
    }

    @Test
    void shouldOnlyAsk() {
        try (FakeAttendant _ = new FakeAttendant(file, (command, pause) -> Doing.NOTHING)) {
            assertThat(execute("pause", file.toString(), "--release", "--no-wait")).isZero();
            assertThat(Tenant.read(file).state()).isEqualTo(TenantState.PAUSING);
        }
        assertThat(out.toString()).isEqualToNormalizingNewlines("train: asked to release; 'sluice ps' shows how far it is\n");
    }

    @Test
    void shouldWriteJson() {
        try (FakeAttendant _ = new FakeAttendant(file, (command, pause) -> Doing.ANSWER)) {
            assertThat(execute("pause", file.toString(), "--json")).isZero();
        }
        assertThat(out.toString()).contains("\"tenant\" : \"train\"", "\"kind\" : \"hold\"", "\"state\" : \"done\"");
    }

    /// Once, because nobody looks at a terminal here.
    @Test
    void shouldTellOnceOfWhatTakesLong() {
        long began = System.nanoTime();
        try (FakeAttendant _ = new FakeAttendant(file, (command, pause) -> {
            FakeAttendant.tell(pause, PauseStep.COPY_OUT, 8L << 30, 2L << 30, "");
            return System.nanoTime() - began > 2_500_000_000L ? Doing.ANSWER : Doing.NOTHING;
        })) {
            assertThat(execute("pause", file.toString(), "--release")).isZero();
        }
        assertThat(err.toString().lines()).containsExactly("train: copying memory to the host, 2.0 GiB of 8.0 GiB");
    }
}
