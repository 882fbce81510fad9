package sluice.agent.history;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import sluice.agent.machine.MachineLook;
import sluice.agent.machine.MachineLook.GpuLook;
import sluice.region.GpuTime;
import sluice.region.MemoryUses;
import sluice.region.Tenant;
import sluice.region.TenantState;
import sluice.region.TenantGpu;
import sluice.region.limits.Limits;
import sluice.region.limits.Size;
import sluice.region.pause.Command;
import sluice.region.place.Identity;
import sluice.region.place.SluiceException;

class HistoryTest {
    private static final long BYTES = 1 << 20;
    private static final long BEGAN = 1_800_000_000L;

    @TempDir
    private Path folder;

    private History open() {
        return new History(folder, BYTES, System.err);
    }

    private static MachineLook look(long second, long usedBytes, int gpus) {
        List<GpuLook> looks = new ArrayList<>();
        for (int gpu = 0; gpu < gpus; gpu++) {
            looks.add(new GpuLook(gpu, "GPU-" + gpu, "a GPU", 1000, usedBytes, 0, 50, -1, List.of()));
        }
        return new MachineLook(1, Instant.ofEpochSecond(second), 0, looks, List.of(), List.of(), List.of(), List.of());
    }

    private static List<Sample> read(History history, boolean thinned) throws Exception {
        List<Sample> samples = new ArrayList<>();
        history.read(thinned, 0, Long.MAX_VALUE, (series, sample) -> samples.add(sample));
        samples.sort((a, b) -> Long.compare(a.second(), b.second()));
        return samples;
    }

    @Test
    void shouldRememberAcrossRestarts() throws Exception {
        try (History history = open()) {
            history.see(look(BEGAN, 100, 1));
        }
        try (History history = open()) {
            history.see(look(BEGAN + 1, 200, 1));
            assertThat(read(history, false)).extracting(Sample::usedBytes).containsExactly(100L, 200L);
        }
    }

    @Test
    void shouldThinToTheMostOfTenSeconds() throws Exception {
        try (History history = open()) {
            for (int second = 0; second <= 30; second++) {
                history.see(look(BEGAN + second, second, 1));
            }
            assertThat(read(history, true)).extracting(Sample::usedBytes).containsExactly(9L, 19L, 29L);
            assertThat(read(history, true)).extracting(Sample::gotPermille).containsOnly(500);
        }
    }

    @Test
    void shouldNeverGrow() throws Exception {
        try (History history = open()) {
            for (int second = 0; second < 2000; second++) {
                history.see(look(BEGAN + second, second, 16));
            }
            assertThat(Files.size(folder.resolve("history"))).isLessThanOrEqualTo(BYTES);
            assertThat(read(history, false).getLast().second()).isEqualTo(BEGAN + 1999);
        }
        try (History history = open()) {
            history.see(look(BEGAN + 5000, 7, 16));
            assertThat(read(history, false).getLast().usedBytes()).isEqualTo(7);
        }
    }

    @Test
    void shouldLeaveOutWhatWasNotWrittenInFull() throws Exception {
        try (History history = open()) {
            history.see(look(BEGAN, 1, 1));
            history.see(look(BEGAN + 1, 2, 1));
        }
        try (FileChannel file = FileChannel.open(folder.resolve("history"), StandardOpenOption.WRITE)) {
            file.write(ByteBuffer.wrap(new byte[] {77}), file.size() - Sample.BYTES / 2);
        }
        try (History history = open()) {
            history.see(look(BEGAN + 2, 3, 1));
            assertThat(read(history, false)).extracting(Sample::usedBytes).containsExactly(1L, 3L);
        }
    }

    @Test
    void shouldRefuseASizeThatTheDiskCannotHold() {
        assertTimeoutPreemptively(Duration.ofSeconds(20), () -> assertThatThrownBy(() -> new History(folder, Size.parse("99999999g"), System.err))
                .isInstanceOf(SluiceException.class).hasMessageContaining("history-size").hasMessageContaining("write"));
    }

    /// As many tenants as one wants, each with its own load.
    private static MachineLook look(long second, int tenants) {
        List<MachineLook.TenantLook> looks = new ArrayList<>();
        for (int at = 0; at < tenants; at++) {
            var gpu = new TenantGpu(0, 0, "GPU-0", "a GPU", 1, 1 << 30, at, MemoryUses.NONE, 0, 0, 0, 0, new GpuTime(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0));
            var tenant = new Tenant(Path.of("/run/t" + at + ".region"), "t" + at, "", TenantState.RUNNING, Command.NONE, Identity.self(), at + 1, 0, 0, Limits.NONE,
                    List.of(gpu), List.of(), List.of());
            looks.add(new MachineLook.TenantLook(tenant, 0, List.of(new MachineLook.Rates(1, at % 1000, 0, 0, 0, 0))));
        }
        return new MachineLook(1, Instant.ofEpochSecond(second), 0, List.of(new GpuLook(0, "GPU-0", "a GPU", 1000, 1, 0, 50, -1, List.of())),
                looks, List.of(), List.of(), List.of());
    }

    @Test
    void shouldKeepWholeSeriesOfTheBusiestWhenThereAreTooMany() throws Exception {
        int looks = 5;
        Map<String, Integer> points = new HashMap<>();
        try (History history = new History(folder, 4 << 20, System.err)) {
            for (int second = 0; second < looks; second++) {
                history.see(look(BEGAN + second, 2000));
            }
            history.read(false, 0, Long.MAX_VALUE, (series, sample) -> points.merge(series.tenant(), 1, Integer::sum));
        }
        assertThat(points.get("")).as("points of the GPU").isEqualTo(looks);
        assertThat(points.values()).as("points of each series that is kept").containsOnly(looks);
        assertThat(points).hasSizeGreaterThan(900).containsKeys("t999", "t1999").doesNotContainKeys("t0", "t1000");
    }
}
