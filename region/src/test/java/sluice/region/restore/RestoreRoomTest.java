package sluice.region.restore;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.Callable;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import sluice.linux.Folder;
import sluice.region.CommandChange;
import sluice.region.FakeAttendant;
import sluice.region.Ledger;
import sluice.region.Region;
import sluice.region.Tenant;
import sluice.region.TestRegion;
import sluice.region.layout.RegionLayout;
import sluice.region.pause.Depth;
import sluice.region.pause.PauseStep;
import sluice.region.place.Identity;

@Timeout(60)
class RestoreRoomTest {
    private static final long GIB = 1L << 30;
    private static final long MARGIN = 64L << 20;

    @TempDir
    private Path folder;

    private final List<Process> processes = new ArrayList<>();

    /// A process of a tenant with GPU 3, of 16 GiB.
    private final class Process implements AutoCloseable {
        private final Region region;
        private final Ledger ledger;

        Process(String tenant) throws IOException {
            this(folder, tenant);
        }

        Process(Path folder, String tenant) throws IOException {
            Path file = TestRegion.directory(folder).region(tenant);
            region = Region.openReadWrite(file.toFile().exists() ? file : TestRegion.create(folder, tenant, Identity.self()));
            ledger = Ledger.claim(region, Identity.self());
            TestRegion.gpu(region, 0, 3);
            region.limits().memoryBytes(3, 0);
            FakeAttendant.attend(region, ledger.slot());
            processes.add(this);
        }

        Process stored(long asideBytes, long awayBytes) {
            region.account(ledger.slot(), 0).asideBytes(asideBytes);
            region.account(ledger.slot(), 0).awayBytes(awayBytes);
            region.pause(ledger.slot()).awayBytes(awayBytes);
            region.pause(ledger.slot()).stayingBytes(asideBytes);
            region.slot(ledger.slot()).storedNanos(System.nanoTime());
            return this;
        }

        void restored() {
            region.slot(ledger.slot()).storedNanos(0);
            region.account(ledger.slot(), 0).asideBytes(0);
        }

        Process asked(Depth depth) {
            CommandChange.to(depth, now());
            return this;
        }

        Tenant now() {
            return Tenant.read(region.file());
        }

        /// Whether a process that stored its state may restore it.
        boolean mayRestore() {
            long seen = region.limits().roomNanos();
            return seen > region.slot(ledger.slot()).storedNanos() && System.nanoTime() - seen < StoredStates.VALID_NANOS;
        }

        @Override
        public void close() {
            ledger.close();
            region.close();
        }
    }

    @AfterEach
    void close() {
        processes.forEach(Process::close);
    }

    private RestoreRoom room(OptionalLong freeBytes) {
        return new RestoreRoom(() -> processes.stream().map(Process::now).distinct().toList(), gpu -> freeBytes);
    }

    private RestoreRoom room(long freeBytes) {
        return room(OptionalLong.of(freeBytes));
    }

    @Test
    void shouldTellATenantThatFindsRoom() throws Exception {
        Process train = new Process("train").asked(Depth.VACATE).stored(GIB, 8 * GIB);
        assertThat(train.mayRestore()).isFalse();
        assertThat(room(9 * GIB + MARGIN).look(train.now())).isEmpty();
        assertThat(train.mayRestore()).isTrue();
        train.stored(GIB, 8 * GIB);
        assertThat(train.mayRestore()).as("stored after the look").isFalse();
    }

    @Test
    void shouldSayWhatIsMissingAndTellNothing() throws Exception {
        Process train = new Process("train").asked(Depth.VACATE).stored(GIB, 8 * GIB);
        assertThat(room(9 * GIB).look(train.now())).hasValueSatisfying(text ->
                assertThat(text).isEqualTo("GPU 3 has 9.0 GiB free, and tenant 'train' needs 9.1 GiB; pause or end another job"));
        assertThat(train.mayRestore()).isFalse();
    }

    @Test
    void shouldLookForAllProcessesOfATenantWhateverItIsAskedNow() throws Exception {
        Process one = new Process("train").stored(GIB, 0);
        Process other = new Process("train").stored(2 * GIB, 4 * GIB);
        for (Depth asked : List.of(Depth.RUN, Depth.HOLD, Depth.RELEASE)) {
            one.asked(asked);
            assertThat(room(7 * GIB).look(one.now())).as("withdrawn, or made shallower").isPresent();
        }
        assertThat(room(7 * GIB + MARGIN).look(one.now())).isEmpty();
        assertThat(one.mayRestore() && other.mayRestore()).isTrue();
    }

    @Test
    void shouldLeaveToOthersWhatTheyWerePromised() throws Exception {
        Process first = new Process("first").asked(Depth.VACATE).stored(GIB, 5 * GIB);
        Process second = new Process("second").asked(Depth.VACATE).stored(GIB, 5 * GIB);
        RestoreRoom room = room(10 * GIB);
        assertThat(room.look(first.now())).isEmpty();
        assertThat(room.look(first.now())).as("its own promise does not count against it").isEmpty();
        assertThat(room.look(second.now())).hasValueSatisfying(text -> assertThat(text).contains("10.0 GiB free, 6.0 GiB of that for tenants that come back"));
        assertThat(second.mayRestore()).isFalse();

        first.region.limits().roomNanos(System.nanoTime() - StoredStates.VALID_NANOS);
        first.region.slot(first.ledger.slot()).storedNanos(1);
        first.region.pause(first.ledger.slot()).step(PauseStep.RESTORE.number());
        assertThat(room.look(second.now())).as("the first one restores now").isPresent();
        first.region.pause(first.ledger.slot()).step(PauseStep.ROOM.number());
        assertThat(room.look(second.now())).as("it came too late, and has to be looked for again").isEmpty();
    }

    @Test
    void shouldLeaveRoomForMemoryThatComesBackUnlessThatHasToWaitAnyway() throws Exception {
        Process released = new Process("released").asked(Depth.RUN).stored(0, 6 * GIB);
        released.restored();
        Process vacated = new Process("vacated").asked(Depth.VACATE).stored(3 * GIB, 0);
        assertThat(room(8 * GIB).look(vacated.now())).isPresent();
        assertThat(room(10 * GIB).look(vacated.now())).isEmpty();
        assertThat(room(4 * GIB).look(vacated.now())).as("6 GiB do not fit and wait").isEmpty();
        released.asked(Depth.RELEASE);
        assertThat(room(8 * GIB).look(vacated.now())).as("it stays away").isEmpty();
    }

    @Test
    void shouldCountByTheLedgersWhereNobodyTells() throws Exception {
        Process train = new Process("train").asked(Depth.VACATE).stored(GIB, 3 * GIB);
        Process other = new Process("other");
        other.ledger.reserve(0, 12 * GIB, 0);
        assertThat(room(OptionalLong.empty()).look(train.now())).hasValueSatisfying(text -> assertThat(text).startsWith("GPU 3 has 4.0 GiB free"));
        other.ledger.refund(0, GIB);
        assertThat(room(OptionalLong.empty()).look(train.now())).isEmpty();
    }

    /// Of those that look at the same time only as many find room as there is.
    @Test
    void shouldPromiseRoomOnlyOnceInARace() throws Exception {
        List<Process> vacated = new ArrayList<>();
        for (int i = 0; i < 8; i++) {
            vacated.add(new Process("job" + i).asked(Depth.VACATE).stored(2 * GIB, 0));
        }
        assertThat(promisedInARace(vacated, () -> room(7 * GIB))).isEqualTo(3);
    }

    /// How many are told of room. Where the machine was so busy that promises ran out meanwhile, the race tells nothing and takes place again.
    private static long promisedInARace(List<Process> vacated, Supplier<RestoreRoom> rooms) throws Exception {
        try (var threads = Executors.newFixedThreadPool(vacated.size())) {
            while (true) {
                vacated.forEach(process -> process.stored(2 * GIB, 0));
                long began = System.nanoTime();
                List<Callable<Optional<String>>> looks = new ArrayList<>();
                vacated.forEach(process -> looks.add(() -> rooms.get().look(process.now())));
                for (Future<Optional<String>> look : threads.invokeAll(looks)) {
                    look.get();
                }
                long promised = vacated.stream().filter(Process::mayRestore).count();
                if (System.nanoTime() - began < StoredStates.VALID_NANOS / 2) {
                    return promised;
                }
            }
        }
    }

    @Test
    void shouldNotLookBesideAnother() throws Exception {
        Process train = new Process("train").asked(Depth.VACATE).stored(GIB, 0);
        try (Folder held = Folder.open(folder)) {
            assertThat(held.lock()).isTrue();
            assertThat(room(16 * GIB).look(train.now())).hasValueSatisfying(text -> assertThat(text).contains("another tool is looking"));
            assertThat(train.mayRestore()).isFalse();
        }
        assertThat(room(16 * GIB).look(train.now())).isEmpty();
    }

    /// One agent looks for the tenants of several users, each with a folder of its own.
    @Test
    void shouldPromiseRoomOnlyOnceInSeveralFolders() throws Exception {
        List<Process> vacated = new ArrayList<>();
        for (int i = 0; i < 6; i++) {
            vacated.add(new Process(Files.createDirectory(folder.resolve("user" + i)), "job").asked(Depth.VACATE).stored(2 * GIB, 0));
        }
        RestoreRoom room = room(7 * GIB);
        assertThat(promisedInARace(vacated, () -> room)).isEqualTo(3);
    }

    @Test
    void shouldLookOnceForAllThatWait() throws Exception {
        List<Process> vacated = new ArrayList<>();
        for (int i = 0; i < 6; i++) {
            vacated.add(new Process(Files.createDirectory(folder.resolve("user" + i)), "job").asked(Depth.VACATE).stored(2 * GIB, 0));
        }
        AtomicInteger asked = new AtomicInteger();
        RestoreRoom room = RestoreRoom.ofAllUsers(List::of, _ -> OptionalLong.of(7 * GIB + asked.getAndIncrement()));
        List<Tenant> all = vacated.stream().map(Process::now).toList();
        try (Folder held = Folder.open(folder.resolve("user0")); RandomAccessFile damaged = new RandomAccessFile(vacated.get(1).region.file().toFile(), "rw")) {
            assertThat(held.lock()).isTrue();
            damaged.setLength(4096);
            long began = System.nanoTime();
            room.lookForAll(all, all);
            assertThat(System.nanoTime() - began).as("waits for nobody").isLessThan(400_000_000);
            damaged.setLength(RegionLayout.REGION_BYTES);
        }
        assertThat(vacated.stream().map(Process::mayRestore)).as("one folder is busy, one region damaged").containsExactly(false, false, true, true, true, false);
        assertThat(asked).hasValue(1);
    }

    @Test
    void shouldNotBelieveFiguresThatNobodyCanHave() throws Exception {
        Process train = new Process("train").asked(Depth.VACATE).stored(9 * GIB, 0);
        Process running = new Process("running").asked(Depth.RUN).stored(0, -8 * GIB);
        running.restored();
        assertThat(room(8 * GIB).look(train.now())).as("away_bytes below 0").isPresent();
        Process promised = new Process("promised").asked(Depth.VACATE).stored(Long.MIN_VALUE, 0);
        promised.region.limits().roomNanos(System.nanoTime());
        assertThat(room(8 * GIB).look(train.now())).as("aside_bytes below 0").isPresent();
        running.stored(Long.MAX_VALUE, Long.MAX_VALUE).region.limits().roomNanos(System.nanoTime());
        promised.stored(Long.MAX_VALUE, Long.MAX_VALUE).region.limits().roomNanos(System.nanoTime());
        assertThat(room(100 * GIB).look(train.now())).as("no more than both GPUs hold").isEmpty();
        train.stored(Long.MAX_VALUE, Long.MAX_VALUE);
        assertThat(room(100 * GIB).look(train.now())).as("its own").isPresent();
    }

    /// A restore of another tenant ends while this look takes place: its memory is used, or its promise counts. It must not be neither.
    @Test
    void shouldAskWhatIsFreeLast() throws Exception {
        Process train = new Process("train").asked(Depth.VACATE).stored(4 * GIB, 0);
        Process other = new Process("other").asked(Depth.VACATE).stored(4 * GIB, 0);
        other.region.limits().roomNanos(System.nanoTime());
        AtomicLong free = new AtomicLong(6 * GIB);
        RestoreRoom room = new RestoreRoom(() -> {
            List<Tenant> all = processes.stream().map(Process::now).toList();
            free.addAndGet(-4 * GIB);
            other.restored();
            return all;
        }, _ -> OptionalLong.of(free.get()));
        assertThat(room.look(train.now())).isPresent();
    }

    /// It begins after the time was read, and compares the times just before they run out.
    @Test
    void shouldSeeAProcessThatBeginsToRestoreAtTheLastMoment() throws Exception {
        Process train = new Process("train").asked(Depth.VACATE).stored(GIB, 0);
        train.region.pause(train.ledger.slot()).step(PauseStep.ROOM.number());
        train.region.limits().roomNanos(System.nanoTime());
        StoredStates states = StoredStates.read(train.now(), () -> {
            train.region.pause(train.ledger.slot()).step(PauseStep.RESTORE.number());
            return train.region.limits().roomNanos() + StoredStates.VALID_NANOS;
        });
        assertThat(states.promised()).isTrue();
    }

    /// Such a promise would keep others from the room.
    @Test
    void shouldPromiseNothingThatTheQuotaForbids() throws Exception {
        Process train = new Process("train").asked(Depth.VACATE).stored(4 * GIB, 4 * GIB);
        train.region.limits().memoryBytes(3, 3 * GIB);
        assertThat(room(16 * GIB).look(train.now())).hasValue("the quota of tenant 'train' leaves 3.0 GiB on GPU 3, and its driver state needs 4.0 GiB; "
                + "raise it with 'sluice set train --memory'");
        assertThat(train.mayRestore()).isFalse();
    }

    @Test
    void shouldPromiseLessOftenWhatIsNotUsed() throws Exception {
        Process train = new Process("train").asked(Depth.VACATE).stored(GIB, 0);
        RestoreRoom room = room(16 * GIB);
        for (int i = 0; i < 2; i++) {
            assertThat(room.look(train.now())).isEmpty();
            assertThat(train.mayRestore()).as("promise " + i).isTrue();
            Thread.sleep(1050);
        }
        assertThat(room.look(train.now())).hasValueSatisfying(text -> assertThat(text).contains("do not take it"));
        assertThat(train.mayRestore()).isFalse();
        train.stored(GIB, 0);
        assertThat(room.look(train.now())).as("another state").isEmpty();
    }

    /// It asked for that itself, by a signal of an older tool.
    @Test
    void shouldLeaveNoRoomForAProcessThatStaysAway() throws Exception {
        Process train = new Process("train").asked(Depth.VACATE).stored(4 * GIB, 0);
        Process signalled = new Process("signalled").asked(Depth.RUN).stored(0, 4 * GIB);
        signalled.restored();
        assertThat(room(6 * GIB).look(train.now())).as("comes back").isPresent();
        signalled.region.pause(signalled.ledger.slot()).own(1 << 8 | RegionLayout.COMMAND_EVICT);
        assertThat(room(6 * GIB).look(train.now())).as("stays away").isEmpty();
    }

    /// The older one restores as soon as it is asked to.
    @Test
    void shouldLeaveRoomForAProcessOfTheSameTenantThatDoesNotWait() throws Exception {
        Process train = new Process("train").asked(Depth.VACATE).stored(2 * GIB, 0);
        Process older = new Process("train").stored(3 * GIB, GIB);
        older.restored();
        older.region.slot(older.ledger.slot()).features(RegionLayout.FEATURES & ~(1L << List.of(RegionLayout.FEATURE_NAMES.split(" ")).indexOf("room")));
        assertThat(RestoreRoom.isNeededBefore(train.now())).isTrue();
        assertThat(room(5 * GIB).look(train.now())).isPresent();
        assertThat(room(6 * GIB + MARGIN).look(train.now())).isEmpty();
    }

    /// Its library restores at once, so the tool has to look before it asks.
    @Test
    void shouldEstimateForALibraryThatKnowsNoLook() throws Exception {
        Process train = new Process("train").asked(Depth.VACATE).stored(GIB, 8 * GIB);
        train.restored();
        assertThat(room(9 * GIB).look(train.now())).isPresent();
        assertThat(room(9 * GIB + MARGIN).look(train.now())).isEmpty();
        assertThat(room(OptionalLong.empty()).look(train.now())).as("nobody knows").isEmpty();
        train.asked(Depth.RELEASE);
        assertThat(room(0).look(train.now())).isEmpty();
    }
}
