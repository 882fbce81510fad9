package sluice.agent.metrics;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.function.Consumer;
import sluice.region.Ledger;
import sluice.region.Region;
import sluice.region.RegionDraft;
import sluice.region.boards.Board;
import sluice.region.layout.AccountView;
import sluice.region.layout.BoardLayout;
import sluice.region.layout.BoardTenantView;
import sluice.region.layout.CallTable;
import sluice.region.layout.CallView;
import sluice.region.layout.GpuView;
import sluice.region.layout.HeaderView;
import sluice.region.layout.RegionLayout;
import sluice.region.layout.ShareView;
import sluice.region.layout.TrafficView;
import sluice.region.limits.ComputeCaps;
import sluice.region.limits.ComputeLimits;
import sluice.region.limits.Limits;
import sluice.region.limits.MemoryLimits;
import sluice.region.limits.OnError;
import sluice.region.limits.OnOom;
import sluice.region.limits.Priority;
import sluice.region.place.Identity;
import sluice.region.place.RuntimeDirectory;

/// Regions and a board as libraries write them, with a number in every field that is exported.
public final class MetricsTenants {
    static final String UUID = "GPU-00000000-0000-0000-0000-000000000000";
    private static final long MIB = 1 << 20;

    private MetricsTenants() {}

    /// A tenant with a quota of 4 GiB, a cap of 50 % and this weight, that used the GPU. Its process is this one.
    static Path busy(RuntimeDirectory directory, String name, int weight) {
        ComputeLimits compute = new ComputeLimits(ComputeCaps.parse("50%"), true, weight, Priority.HIGH, false, 0);
        Path file = Region.create(directory, new RegionDraft(name, "python " + name, Identity.self(),
                new Limits(MemoryLimits.parse("4g"), compute, OnOom.FAIL, OnError.FAIL)));
        try (Region region = Region.openReadWrite(file)) {
            GpuView gpu = region.gpu(0);
            gpu.uuid(new byte[16]);
            gpu.name("a \"GPU\"\\");
            gpu.totalBytes(80L << 30);
            gpu.peakBytes(300 * MIB);
            gpu.refusedCalls(3);
            gpu.owner(1);
            for (int process = 0; process < 4; process++) {
                Ledger ledger = Ledger.claim(region, Identity.self());
                ledger.reserve(0, 64 * MIB, 0);
                AccountView account = region.account(ledger.slot(), 0);
                account.linearBytes(48 * MIB);
                account.contextBytes(16 * MIB);
            }
            time(region.share(0));
        }
        count(file, segment -> {
            call(segment, "cuLaunchKernel", 1000, 1);
            call(segment, "cuMemcpyHtoD_v2", 20, 2);
            for (String function : List.of("cuInit", "cuMemAlloc_v2", "cuMemFree_v2", "cuMemsetD8_v2", "cuStreamSynchronize", "cuMemHostAlloc")) {
                call(segment, function, 10, 0);
            }
            TrafficView.at(segment, 1).writer(Identity.self().word());
            TrafficView.at(segment, 1).toGpuBytes(5 * MIB);
            TrafficView.at(segment, 2).toGpuBytes(6 * MIB);
            TrafficView.at(segment, 2).fromGpuBytes(7 * MIB);
        });
        return file;
    }

    /// Writes counters, as only the library does.
    public static void count(Path file, Consumer<MemorySegment> counters) {
        try (Arena arena = Arena.ofConfined();
                FileChannel channel = FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            MemorySegment segment = channel.map(FileChannel.MapMode.READ_WRITE, 0, RegionLayout.REGION_BYTES, arena);
            HeaderView.of(segment).entriesDigest(CallTable.DIGEST);
            counters.accept(segment);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void time(ShareView share) {
        share.beganNanos(System.nanoTime() - 10_000_000_000L);
        share.dueNanos(System.nanoTime());
        share.usedNanos(2_500_000_000L);
        share.submittedCalls(1000);
        share.capWaits(5);
        share.capWaitedNanos(1_500_000_000L);
        share.turnWaits(6);
        share.turnWaitedNanos(500_000_000L);
        share.memoryWaits(1);
        share.memoryWaitedNanos(250_000_000L);
    }

    static void call(MemorySegment segment, String function, long calls, long failed) {
        int ownStripe = RegionLayout.CALL_COUNT / RegionLayout.TRAFFIC_COUNT;
        CallView call = CallView.at(segment, ownStripe + CallTable.NAMES.indexOf(function));
        call.calls(calls);
        call.failed(failed);
        call.timedCalls(calls);
        call.timedNanos(calls * 1_000_000);
    }

    /// Puts tenants on the board of their GPU, in the order of their files.
    public static void onBoard(RuntimeDirectory directory, Path... files) throws IOException {
        Path file = directory.path().resolve("board-" + "0".repeat(32));
        try (Arena arena = Arena.ofConfined();
                FileChannel channel = FileChannel.open(file, StandardOpenOption.CREATE_NEW, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            MemorySegment segment = channel.map(FileChannel.MapMode.READ_WRITE, 0, BoardLayout.BOARD_BYTES, arena);
            Board.initialise(segment, new byte[16]);
        }
        try (Board board = Board.openReadWrite(file)) {
            for (int entry = 0; entry < files.length; entry++) {
                try (Region region = Region.openReadOnly(files[entry])) {
                    BoardTenantView tenant = board.tenant(entry);
                    tenant.name(region.header().tenant());
                    tenant.rootIdentity(Identity.self().word());
                    tenant.weight(region.limits().weight());
                    tenant.turns(12);
                    tenant.heldNanos(3_000_000_000L);
                    tenant.owner(region.header().createdNanos());
                }
            }
        }
    }
}
