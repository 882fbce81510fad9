package sluice.region.calls;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import sluice.region.Region;
import sluice.region.TestRegion;
import sluice.region.layout.CallTable;
import sluice.region.layout.CallView;
import sluice.region.layout.RegionLayout;

class TenantCallsTest {
    private static final int STRIPE_CALLS = RegionLayout.CALL_COUNT / RegionLayout.TRAFFIC_COUNT;

    @TempDir
    private Path folder;

    private static void count(Region region, int stripe, String name, long calls, long failed, long nanos, long longest, long bytes) {
        region.traffic(stripe).writer(TestRegion.DEAD.word());
        CallView call = region.call(stripe * STRIPE_CALLS + CallTable.NAMES.indexOf(name));
        call.calls(calls);
        call.failed(failed);
        call.timedCalls(calls);
        call.timedNanos(nanos);
        call.longestNanos(longest);
        call.bytes(bytes);
    }

    @Test
    void shouldHaveRoomForEveryEntryPoint() {
        assertThat(CallTable.NAMES).hasSizeLessThanOrEqualTo(STRIPE_CALLS).doesNotHaveDuplicates();
        assertThat(CallTable.KINDS).hasSize(CallTable.NAMES.size());
    }

    @Test
    void shouldAddTheStripesOfEachFunction() throws Exception {
        Path file = TestRegion.create(folder, "job", TestRegion.DEAD);
        try (Region region = Region.openReadWrite(file)) {
            count(region, 0, "cuLaunchKernel", 10, 1, 500, 80, 0);
            count(region, 7, "cuLaunchKernel", 5, 0, 250, 90, 0);
            count(region, 3, "cuMemAlloc_v2", 2, 1, 40, 30, 4096);
            region.traffic(1).toGpuBytes(100);
            region.traffic(6).toGpuBytes(11);
            region.traffic(6).otherBytes(5);
        }

        TenantCalls calls = TenantCalls.read(file);

        assertThat(calls.known()).isTrue();
        assertThat(calls.counts()).containsExactlyInAnyOrder(
                new CallCount("cuLaunchKernel", CallKind.KERNEL, 15, 1, 15, 750, 90, 0),
                new CallCount("cuMemAlloc_v2", CallKind.ALLOCATION, 2, 1, 2, 40, 30, 4096));
        assertThat(calls.calls()).isEqualTo(17);
        assertThat(calls.failed()).isEqualTo(2);
        assertThat(calls.done(CallKind.KERNEL)).isEqualTo(14);
        assertThat(calls.bytes(CallKind.ALLOCATION)).isEqualTo(4096);
        assertThat(calls.traffic()).isEqualTo(new Traffic(111, 0, 0, 0, 0, 5));
        assertThat(calls.counts().getFirst().meanNanos()).isIn(50L, 20L);
    }

    @Test
    void shouldTakeSomeQuickCallsForAll() throws Exception {
        Path file = TestRegion.create(folder, "job", TestRegion.DEAD);
        try (Region region = Region.openReadWrite(file)) {
            count(region, 2, "cuLaunchKernel", 10, 0, 7000, 1000, 0);
            CallView call = region.call(2 * STRIPE_CALLS + CallTable.NAMES.indexOf("cuLaunchKernel"));
            call.calls(110);
            call.sampledCalls(4);
            call.sampledNanos(20);
        }

        assertThat(TenantCalls.read(file).counts()).containsExactly(
                new CallCount("cuLaunchKernel", CallKind.KERNEL, 110, 0, 14, 7000 + 100 * 5, 1000, 0));
    }

    @Test
    void shouldNotReadNumbersThatStandForOtherNames() throws Exception {
        Path file = TestRegion.create(folder, "job", TestRegion.DEAD);
        try (Region region = Region.openReadWrite(file)) {
            count(region, 0, "cuLaunchKernel", 10, 1, 500, 80, 0);
        }
        try (var channel = Files.newByteChannel(file, StandardOpenOption.WRITE)) {
            channel.position(RegionLayout.HEADER_ENTRIES_DIGEST_OFFSET).write(ByteBuffer.allocate(Long.BYTES));
        }

        TenantCalls calls = TenantCalls.read(file);

        assertThat(calls.known()).isFalse();
        assertThat(calls.counts()).isEmpty();
    }

    @Test
    void shouldKnowTheKindOfEachFunction() {
        assertThat(kind("cuLaunchKernelEx_ptsz")).isEqualTo(CallKind.KERNEL);
        assertThat(kind("cuGraphLaunch")).isEqualTo(CallKind.GRAPH);
        assertThat(kind("cuMemsetD8_v2")).isEqualTo(CallKind.SET);
        assertThat(kind("cuMemcpyPeerAsync")).isEqualTo(CallKind.COPY);
        assertThat(kind("cuMemAllocAsync_ptsz")).isEqualTo(CallKind.ALLOCATION);
        assertThat(kind("cuMemAllocHost_v2")).isEqualTo(CallKind.HOST_MEMORY);
        assertThat(kind("cuMemFree_v2")).isEqualTo(CallKind.FREE);
        assertThat(kind("cuCtxSynchronize")).isEqualTo(CallKind.WAIT);
        assertThat(kind("cuDeviceGet")).isEqualTo(CallKind.OTHER);
    }

    private static CallKind kind(String name) {
        return CallKind.of(CallTable.NAMES.indexOf(name));
    }
}
