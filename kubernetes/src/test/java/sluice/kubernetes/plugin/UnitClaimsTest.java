package sluice.kubernetes.plugin;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import sluice.fault.Fault;
import sluice.kubernetes.FakeAgent;
import sluice.kubernetes.claims.ContainerEdits;
import sluice.kubernetes.node.NodeAgent;
import sluice.kubernetes.plugin.GivenUnits.Holder;

/// When a container's claim is taken back, by a clock that the test sets.
@Timeout(60)
class UnitClaimsTest {
    private static final Holder TRAIN = new Holder("team", "train", "main");
    private static final String LONG = String.join("/", Collections.nCopies(15, "d".repeat(200)));
    private static final Holder OTHER = new Holder("team", "other", "main");

    @TempDir
    private Path folder;

    private FakeAgent agent;
    private NodeAgent client;
    private UnitGiver giver;
    private UnitClaims claims;
    private HeldUnits held = new HeldUnits(List.of());
    private Instant now = Instant.now();
    private final ByteArrayOutputStream log = new ByteArrayOutputStream();

    private final class SetClock extends Clock {
        @Override
        public ZoneId getZone() {
            return ZoneOffset.UTC;
        }

        @Override
        public Clock withZone(ZoneId zone) {
            return this;
        }

        @Override
        public Instant instant() {
            return now;
        }
    }

    @BeforeEach
    void start() throws IOException {
        agent = new FakeAgent(folder.resolve("agent.sock"));
        client = new NodeAgent(folder.resolve("agent.sock"));
        PrintStream out = new PrintStream(log, true, StandardCharsets.UTF_8);
        ContainerEdits edits = new ContainerEdits(Path.of("/opt/sluice/lib"), Path.of("/run/sluice/register.sock"), Optional.empty(), Optional.empty());
        giver = new UnitGiver(folder.resolve("units"), new UnitEdits(edits, new AlnairFolders(folder.resolve("workspaces")), Path.of("/run/alnair/alnair.sock")), client::gpus, () -> held, out);
        claims = new UnitClaims(giver, client, () -> held, given -> { }, new SetClock(), out);
        pass(Duration.ofMinutes(10));
    }

    @AfterEach
    void stop() throws IOException {
        agent.close();
    }

    private void pass(Duration time) {
        now = now.plus(time);
    }

    private static List<String> units(int from, int count) {
        return IntStream.range(from, from + count).mapToObj(at -> "GPU-0000_" + at).toList();
    }

    private static HeldUnits.Container holding(Holder holder, UnitResource resource, List<String> units) {
        return new HeldUnits.Container(holder, Map.of(resource, Set.copyOf(units)));
    }

    private void hold(HeldUnits.Container... containers) {
        held = new HeldUnits(List.of(containers));
    }

    private void started(UnitResource resource, Holder holder, List<String> units) {
        giver.give(resource, units);
        hold(holding(holder, resource, units));
        claims.start(resource, units);
        assertThat(agent.claims).isNotEmpty();
    }

    private void reconcileAfter(Duration time) {
        pass(time);
        claims.reconcile(held);
    }

    @Test
    void shouldTakeBackWhatAnEndedContainerHad() {
        started(UnitResource.MEMORY, TRAIN, units(0, 4));
        hold(holding(OTHER, UnitResource.COMPUTE, List.of()));

        reconcileAfter(Duration.ZERO);
        reconcileAfter(Duration.ofSeconds(59));
        assertThat(agent.claims).as("it may only be away for a moment").hasSize(1);
        reconcileAfter(Duration.ofSeconds(1));
        assertThat(agent.claims).isEmpty();
        assertThat(folder.resolve("units")).isEmptyDirectory();
    }

    @Test
    void shouldCountAnewWhenTheContainerIsNamedAgain() {
        started(UnitResource.MEMORY, TRAIN, units(0, 4));
        HeldUnits before = held;
        hold(holding(OTHER, UnitResource.COMPUTE, List.of()));
        reconcileAfter(Duration.ZERO);
        reconcileAfter(Duration.ofSeconds(50));
        held = before;
        reconcileAfter(Duration.ofSeconds(50));
        hold(holding(OTHER, UnitResource.COMPUTE, List.of()));
        reconcileAfter(Duration.ofSeconds(50));
        assertThat(agent.claims).hasSize(1);
    }

    @Fault(kind = Fault.Kind.KILL, of = "kubelet, which then names no container for a while")
    @Test
    void shouldKeepClaimsWhileKubeletKnowsNothingYet() {
        started(UnitResource.MEMORY, TRAIN, units(0, 4));
        hold();
        for (int minute = 0; minute < 60; minute++) {
            reconcileAfter(Duration.ofMinutes(1));
        }
        assertThat(agent.claims).as("kubelet names nobody at all").hasSize(1);

        claims.kubeletIsNew();
        hold(holding(OTHER, UnitResource.COMPUTE, List.of()));
        reconcileAfter(Duration.ofMinutes(2));
        reconcileAfter(Duration.ofMinutes(2));
        assertThat(agent.claims).as("kubelet has just started").hasSize(1);
        reconcileAfter(Duration.ofMinutes(2));
        reconcileAfter(Duration.ofMinutes(1));
        assertThat(agent.claims).isEmpty();
    }

    @Test
    void shouldTakeBackUnitsThatAnotherContainerHasNow() {
        started(UnitResource.MEMORY, TRAIN, units(0, 4));
        GivenUnits old = giver.all().getFirst();
        giver.keep(new GivenUnits(old.id(), old.resource(), old.units(), old.token(), "", 0, old.seconds() - 600, old.holder()));
        giver.give(UnitResource.MEMORY, units(2, 6));
        hold(holding(OTHER, UnitResource.MEMORY, units(2, 6)));
        claims.start(UnitResource.MEMORY, units(2, 6));
        assertThat(agent.claims).hasSize(2);

        reconcileAfter(Duration.ZERO);

        assertThat(agent.claims.values()).hasSize(1).allMatch(claim -> claim.contains("other"));
    }

    @Test
    void shouldDeclareAgainWhatANewAgentDoesNotKnow() {
        started(UnitResource.MEMORY, TRAIN, units(0, 4));
        String claim = agent.claims.values().iterator().next();
        agent.claims.clear();
        agent.claims.put("units-0000", "{}");
        agent.claims.put("6f1c2d1e-of-another", "{}");

        reconcileAfter(Duration.ZERO);

        assertThat(agent.claims).doesNotContainKey("units-0000").containsKey("6f1c2d1e-of-another").containsValue(claim);
    }

    @Test
    void shouldForgetAnInitContainerAfterADay() {
        giver.give(UnitResource.MEMORY, units(0, 4));
        claims.start(UnitResource.MEMORY, units(0, 4));
        assertThat(agent.claims.values()).allMatch(claim -> claim.contains("\"unknown\""));
        hold(holding(OTHER, UnitResource.COMPUTE, List.of()));
        reconcileAfter(Duration.ofHours(23));
        assertThat(agent.claims).hasSize(1);
        reconcileAfter(Duration.ofHours(1));
        assertThat(agent.claims).isEmpty();
    }

    @Fault(kind = Fault.Kind.SWAP, of = "the files of an Alnair workspace, by its container")
    @Test
    void shouldRemoveAHostileWorkspaceAndNothingElse() throws IOException {
        Path precious = Files.createDirectories(folder.resolve("precious"));
        Files.writeString(precious.resolve("file"), "stays");
        started(UnitResource.ALNAIR_MEMORY, TRAIN, units(0, 2));
        Path workspace = folder.resolve("workspaces").resolve(giver.all().getFirst().workspace());
        Files.delete(workspace.resolve("limits"));
        Files.createSymbolicLink(workspace.resolve("limits"), precious.resolve("file"));
        Files.createSymbolicLink(workspace.resolve("podInfo"), precious.resolve("file"));
        Files.createSymbolicLink(workspace.resolve("away"), precious);
        Path deep = workspace;
        for (int level = 0; level < 200; level++) {
            deep = Files.createDirectory(deep.resolve("d"));
        }
        new AlnairFolders(folder.resolve("workspaces")).describe(workspace.getFileName().toString(), TRAIN);
        assertThat(Files.isSymbolicLink(workspace.resolve("podInfo"))).as("replaced, not followed").isFalse();
        hold(holding(OTHER, UnitResource.COMPUTE, List.of()));

        reconcileAfter(Duration.ZERO);
        reconcileAfter(Duration.ofSeconds(60));

        assertThat(workspace).doesNotExist();
        assertThat(precious.resolve("file")).hasContent("stays");
        assertThat(agent.claims).isEmpty();
    }

    @Fault(kind = Fault.Kind.EXHAUST, of = "the removal of a workspace, by a path that is too long")
    @Test
    void shouldTakeBackAClaimWhoseWorkspaceCannotBeRemoved() throws Exception {
        started(UnitResource.ALNAIR_MEMORY, TRAIN, units(0, 2));
        Path workspace = folder.resolve("workspaces").resolve(giver.all().getFirst().workspace());
        // Longer than any path that a program can name: one long path is moved to the end of another.
        Path first = Files.createDirectories(workspace.resolve(LONG));
        Path second = Files.createDirectories(folder.resolve("second").resolve(LONG));
        assertThat(second).exists();
        Files.move(folder.resolve("second"), first.resolve("second"));
        hold(holding(OTHER, UnitResource.COMPUTE, List.of()));

        reconcileAfter(Duration.ZERO);
        reconcileAfter(Duration.ofSeconds(60));

        assertThat(agent.claims).isEmpty();
        assertThat(log.toString(StandardCharsets.UTF_8)).contains("remove it by hand");
        new ProcessBuilder("rm", "-rf", workspace.toString()).start().waitFor();
    }
}
