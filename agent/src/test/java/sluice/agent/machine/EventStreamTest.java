package sluice.agent.machine;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import sluice.agent.http.Answer;
import sluice.agent.http.Caller;
import sluice.agent.http.Request;
import sluice.region.AccountView;
import sluice.region.GpuView;
import sluice.region.Identity;
import sluice.region.MemoryLimits;
import sluice.region.OnError;
import sluice.region.Processes;
import sluice.region.Region;
import sluice.region.RegionDraft;
import sluice.region.RuntimeDirectory;
import sluice.region.ShareView;

class EventStreamTest {
    private static final int MANY = 1000;

    private final Machine machine = new Machine(List::of, new Gpus(Optional.empty()), Processes.BY_PROC, new EventLog());
    private final EventStream stream = new EventStream(machine);

    /// What a client of the stream is told, line by line.
    private List<String> listen() {
        List<String> lines = new ArrayList<>();
        listen(stream, bytes -> lines.addAll(new String(bytes, StandardCharsets.UTF_8).lines().toList()));
        return lines;
    }

    private static void listen(EventStream stream, Consumer<byte[]> told) {
        Request request = new Request("GET", "/v1/events", Map.of(), Map.of(), Map.of(), new byte[0], new Caller(0, 0, Caller.Rights.ALL));
        ((Answer.Stream) stream.open(request)).start().accept(new Answer.Sink() {
            @Override
            public boolean offer(byte[] bytes) {
                send(bytes);
                return true;
            }

            @Override
            public void send(byte[] bytes) {
                told.accept(bytes);
            }

            @Override
            public void whenClosed(Runnable action) {}
        });
    }

    @Test
    void shouldShowNoMachineThatNobodyHasLookedAt() {
        List<String> early = listen();
        assertThat(early).isEmpty();

        machine.tick();

        assertThat(early).contains("event: machine");
        assertThat(listen()).as("who comes later").isEqualTo(early);
    }

    /// A tenant whose process is this one, with memory and time on a GPU.
    private static void busy(Path file, int round) {
        try (Region region = Region.openReadWrite(file)) {
            GpuView gpu = region.gpu(0);
            gpu.totalBytes(80L << 30);
            gpu.name("a GPU");
            gpu.peakBytes(round * 123_456_789L);
            gpu.owner(1);
            AccountView account = region.account(0, 0);
            account.chargedBytes(round * 123_456_789L);
            account.linearBytes(round * 123_456_789L);
            region.slot(0).owner(Identity.self().word());
            region.slot(0).calls(round * 123_456L);
            ShareView share = region.share(0);
            share.beganNanos(1);
            share.usedNanos(round * 87_654_321L);
            share.submittedCalls(round * 12_345L);
            share.turnWaits(round * 3L);
            share.turnWaitedNanos(round * 98_765_432L);
            share.capWaitedNanos(round * 12_345_678L);
        }
    }

    @Test
    void shouldSayLittleOfManyTenants(@TempDir Path folder) throws Exception {
        Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwx------"));
        RuntimeDirectory directory = new RuntimeDirectory(folder);
        List<Path> files = new ArrayList<>();
        for (int tenant = 0; tenant < MANY; tenant++) {
            files.add(Region.create(directory, new RegionDraft("tenant" + tenant, "python train.py", Identity.self(), OnError.FAIL, MemoryLimits.parse("4g"))));
        }
        Machine many = new Machine(() -> List.of(directory), new Gpus(Optional.empty()), Processes.BY_PROC, new EventLog());
        EventStream streams = new EventStream(many);
        many.tick();
        List<Integer> sizes = new ArrayList<>();
        listen(streams, bytes -> {
            if (!new String(bytes, StandardCharsets.UTF_8).startsWith("event: event")) {
                sizes.add(bytes.length);
            }
        });
        for (int round = 1; round <= 4; round++) {
            for (Path file : files) {
                busy(file, round);
            }
            Thread.sleep(1000);
            many.tick();
        }
        int whole = sizes.getFirst();
        int busy = sizes.getLast();
        many.tick();
        many.tick();
        System.err.println("whole " + whole + " bytes, all changed " + busy + ", none changed " + sizes.getLast());
        assertThat(whole).isGreaterThan(200 * MANY);
        assertThat(busy).as("all changed").isLessThanOrEqualTo(200 * MANY);
    }
}
