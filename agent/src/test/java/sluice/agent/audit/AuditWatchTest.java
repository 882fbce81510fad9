package sluice.agent.audit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static sluice.agent.audit.AuditFolder.GPU;
import static sluice.agent.audit.AuditFolder.MIB;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.IntFunction;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import sluice.agent.audit.AuditRules.Stop;
import sluice.agent.machine.Event;
import sluice.agent.machine.EventLog;
import sluice.api.model.AuditFinding;
import sluice.cuda.NvmlHealth;
import sluice.region.place.ThisProcess;

/// Who hears of something asks in the same moment.
@Timeout(60)
class AuditWatchTest {
    private static final long SELF = Integer.toUnsignedLong(ThisProcess.current().uid());
    private static final NvmlHealth.Health FINE = new NvmlHealth.Health(Optional.empty(), 0, 0, false, false, 60, 90, false, false);
    private static final NvmlHealth.Health HOT = new NvmlHealth.Health(Optional.empty(), 0, 0, false, false, 60, 90, true, false);

    @TempDir
    private Path folder;

    private final List<NvmlHealth.Xid> xids = new ArrayList<>();
    private final EventLog events = new EventLog();
    private final List<String> heard = new ArrayList<>();
    private AuditFolder machine;
    private Process program;

    @BeforeEach
    void start() throws Exception {
        machine = new AuditFolder(folder);
        program = GpuProgram.sleep(folder);
    }

    @AfterEach
    void stop() throws Exception {
        program.destroyForcibly().waitFor();
    }

    private AuditWatch watch(Stop stop, IntFunction<NvmlHealth.Health> health) {
        AuditRules rules = new AuditRules(SELF, false, 64 * MIB, Set.of(), Set.of(), stop, Set.of(), false, Duration.ofSeconds(1), Duration.ofHours(1));
        AuditWatch watch = new AuditWatch(machine.audit(rules), rules, new AuditWatch.Health(Map.of(0, GPU), () -> xids, health), events, System.err);
        events.listen(0, 1, event -> heard.add(event.kind() + " " + watch.findings().stream().map(AuditFinding::action).toList() + " " + watch.health(GPU)));
        return watch;
    }

    @Test
    void shouldHaveAFindingBeforeItTellsOfIt() {
        machine.on(program.pid(), 300 * MIB);
        try (AuditWatch watch = watch(Stop.NEVER, gpu -> FINE)) {
            watch.look(machine.now());
            watch.look(machine.now());
            machine.onGpu.clear();
            watch.look(machine.now());
        }

        assertThat(heard).containsExactly("audit [reported] []", "audit [] []");
    }

    @Test
    void shouldSayWhatItDidBeforeItTellsOfIt() {
        machine.on(program.pid(), 300 * MIB);
        try (AuditWatch watch = watch(Stop.ALL, gpu -> FINE)) {
            watch.look(machine.now());
            watch.look(machine.now());
        }

        assertThat(heard).containsExactly("audit [terminated] []", "audit [terminated] []");
        assertThat(events.last(2)).extracting(Event::text).satisfiesExactly(
                found -> assertThat(found).endsWith(" and is in no ledger"), stopped -> assertThat(stopped).startsWith("stopped "));
    }

    @Test
    void shouldKnowThatAGpuIsIllBeforeItTellsOfIt() {
        xids.add(new NvmlHealth.Xid(0, 79));
        try (AuditWatch watch = watch(Stop.NEVER, gpu -> HOT)) {
            watch.look(machine.now());
        }

        assertThat(heard).hasSize(2).containsOnly("health [] [slowed down by heat, Xid 79]");
    }

    @Test
    void shouldTellOfAnErrorEvenIfHealthCannotBeAskedFor() {
        xids.add(new NvmlHealth.Xid(0, 79));
        try (AuditWatch watch = watch(Stop.NEVER, gpu -> {
            throw new IllegalStateException("no answer");
        })) {
            assertThatIllegalStateException().isThrownBy(() -> watch.look(machine.now()));
        }

        assertThat(events.last(1)).extracting(Event::text).containsExactly("GPU 0: Xid 79");
    }
}
