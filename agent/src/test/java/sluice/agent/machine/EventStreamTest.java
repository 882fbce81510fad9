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
import sluice.region.Region;
import sluice.region.RegionDraft;
import sluice.region.layout.AccountView;
import sluice.region.layout.GpuView;
import sluice.region.layout.ShareView;
import sluice.region.limits.MemoryLimits;
import sluice.region.limits.OnError;
import sluice.region.place.Identity;
import sluice.region.place.Processes;
import sluice.region.place.RuntimeDirectory;

class EventStreamTest {
    private static final int MANY = 1000;

    private boolean reads = true;

    private final Machine machine = new Machine(List::of, new Gpus(Optional.empty()), Processes.BY_PROC, new EventLog());
    private final EventStream stream = new EventStream(machine);

    /// What a client of the stream gets, line by line.
    private List<String> listen() {
        List<String> lines = new ArrayList<>();
        listen(stream, bytes -> lines.addAll(new String(bytes, StandardCharsets.UTF_8).lines().toList()));
        return lines;
    }

    private void listen(EventStream stream, Consumer<byte[]> told) {
        listen(stream, new Caller(0, 0, Caller.Rights.ALL), told);
    }

    private void listen(EventStream stream, Caller caller, Consumer<byte[]> told) {
        Request request = new Request("GET", "/v1/events", Map.of(), Map.of(), Map.of(), new byte[0], caller);
        ((Answer.Stream) stream.open(request)).start().accept(new Answer.Sink() {
            @Override
            public boolean offer(byte[] bytes) {
                if (reads) {
                    send(bytes);
                }
                return reads;
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
    void shouldTellAUserOnlyTheirOwnEvents() {
        List<String> lines = new ArrayList<>();
        machine.events().add("refused", "early", 1001, "of another user, before");
        machine.events().add("refused", "early", 1000, "my own, before");
        listen(stream, new Caller(1000, 1, Caller.Rights.OWN), bytes -> lines.addAll(new String(bytes, StandardCharsets.UTF_8).lines().toList()));
        machine.events().add("refused", "late", 1001, "of another user, later");
        machine.events().add("refused", "late", 1000, "my own, later");

        assertThat(lines).anyMatch(line -> line.contains("my own, before")).anyMatch(line -> line.contains("my own, later"))
                .noneMatch(line -> line.contains("of another user"));
    }

    @Test
    void shouldShowNoMachineBeforeTheFirstLook() {
        List<String> early = listen();
        assertThat(early).isEmpty();

        machine.tick();

        assertThat(early).contains("event: machine");
        assertThat(listen()).as("who comes later").isEqualTo(early);
    }

    private static RuntimeDirectory directory(Path folder) throws Exception {
        Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwx------"));
        return new RuntimeDirectory(folder);
    }

    private static Path tenant(RuntimeDirectory directory, String name) {
        return Region.create(directory, new RegionDraft(name, "python train.py", Identity.self(), OnError.FAIL, MemoryLimits.parse("4g")));
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
        RuntimeDirectory directory = directory(folder);
        List<Path> files = new ArrayList<>();
        for (int tenant = 0; tenant < MANY; tenant++) {
            files.add(tenant(directory, "tenant" + tenant));
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
        assertThat(whole).isGreaterThan(200 * MANY);
        assertThat(busy).as("all changed").isLessThanOrEqualTo(200 * MANY);
        for (int tick = 0; tick < 2; tick++) {
            Thread.sleep(1000);
            many.tick();
        }
        assertThat(sizes.getLast()).as("nothing changed").isLessThan(1000);
    }

    @Test
    void shouldTellOnlyWhatChanged(@TempDir Path folder) throws Exception {
        RuntimeDirectory directory = directory(folder);
        Path first = tenant(directory, "first");
        Path second = tenant(directory, "second");
        Machine few = new Machine(() -> List.of(directory), new Gpus(Optional.empty()), Processes.BY_PROC, new EventLog());
        EventStream streams = new EventStream(few);
        busy(first, 1);
        busy(second, 1);
        few.tick();
        List<String> told = new ArrayList<>();
        reads = true;
        listen(streams, bytes -> told.add(new String(bytes, StandardCharsets.UTF_8)));
        assertThat(told.getLast()).startsWith("event: machine\n").contains("{\"id\":1,\"tenant\":\"first\"", "{\"id\":2,\"tenant\":\"second\"");

        Thread.sleep(1000);
        few.tick();
        Thread.sleep(1000);
        busy(first, 2);
        few.tick();
        assertThat(changes(told)).contains("\"after\":2,", "\"numbers\":[{\"id\":1,", "\"gpus\":[[0,246913578,").doesNotContain("\"id\":2", "\"tenants\":[{", "\"gone\"");

        Files.delete(second);
        tenant(directory, "third");
        few.tick();
        assertThat(changes(told)).contains("\"tenants\":[{\"id\":3,\"tenant\":\"third\"", "\"gone\":[2]");

        reads = false;
        few.tick();
        reads = true;
        few.tick();
        assertThat(told.getLast()).as("to a client that missed a look").startsWith("event: machine\n").contains("{\"id\":3,\"tenant\":\"third\"");
    }

    private static String changes(List<String> told) {
        return told.reversed().stream().filter(message -> message.startsWith("event: changes\n")).findFirst().orElseThrow();
    }
}
