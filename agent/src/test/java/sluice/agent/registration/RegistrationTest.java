package sluice.agent.registration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import sluice.agent.AgentService;
import sluice.agent.RunningAgent;
import sluice.agent.os.RegisteringPeer;
import sluice.agent.settings.Settings;
import sluice.fault.Fault;
import sluice.region.LimitsChange;
import sluice.region.Region;
import sluice.region.RegionDraft;
import sluice.region.Tenant;
import sluice.region.layout.RegionLayout;
import sluice.region.limits.Limit;
import sluice.region.limits.MemoryLimits;
import sluice.region.limits.OnError;
import sluice.region.place.Identity;
import sluice.region.place.RuntimeDirectory;
import sluice.region.place.SluiceException;
import sluice.region.place.ThisProcess;

/// Processes get regions from the agent, by the policy, and cannot change their limits, root included.
@Timeout(60)
class RegistrationTest {
    private static final String REQUEST = "region " + RegionLayout.LAYOUT + " -";

    @TempDir
    private Path folder;

    private RunningAgent agent;
    private final List<Process> jobs = new ArrayList<>();

    @BeforeEach
    void start() throws Exception {
        assumeTrue(Files.isExecutable(Path.of("/usr/bin/python3")), "python3 is needed");
        Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwxr-xr-x"));
        Files.writeString(folder.resolve("policy"), "label=big -> memory=8g\nlabel=team -> memory=2g tenant=team\nuser=64002 -> refuse\n* -> memory=1g\n");
        Path script = folder.resolve("register.py");
        try (var source = RegistrationTest.class.getResourceAsStream("register.py")) {
            Files.copy(source, script);
        }
        agent = agent();
    }

    private RunningAgent agent() throws Exception {
        return new RunningAgent(folder, List.of(new RegistrationPart()), "policy = " + folder.resolve("policy"), "register-socket = " + socket());
    }

    private Path socket() {
        return folder.resolve("register/agent.sock");
    }

    @AfterEach
    void stop() throws Exception {
        for (Process job : jobs) {
            job.destroyForcibly().waitFor();
        }
        if (agent != null) {
            agent.close();
        }
    }

    private Process job(String request, String... before) throws Exception {
        List<String> command = new ArrayList<>(List.of(before));
        command.addAll(List.of("/usr/bin/python3", folder.resolve("register.py").toString(), socket().toString(), request));
        Process job = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
        jobs.add(job);
        return job;
    }

    private static String order(Process job, String order) throws Exception {
        job.outputWriter().write(order + "\n");
        job.outputWriter().flush();
        return job.inputReader().readLine();
    }

    private static List<String> lines(Process job, int count) throws Exception {
        List<String> lines = new ArrayList<>();
        for (int at = 0; at < count; at++) {
            lines.add(job.inputReader().readLine());
        }
        return lines;
    }

    private Path region(String answer) {
        return folder.resolve("run").resolve(answer.substring("ok ".length()) + ".region");
    }

    @Test
    void shouldGiveLimitsThatTheTenantCannotChange() throws Exception {
        List<String> lines = lines(job(REQUEST), 8);

        assertThat(lines).contains("map-limits failed", "write-limits failed", "cut-limits failed", "open-limits-again failed",
                "unseal-limits failed", "memory " + (1L << 30), "write-ledger worked");
        Tenant tenant = Tenant.read(region(lines.getFirst()));
        assertThat(tenant.state().lives()).isTrue();
        assertThat(tenant.memory().bytes(0)).isEqualTo(1L << 30);
        assertThat(agent.client().get("/v1/tenants/" + tenant.name()).status()).isEqualTo(200);
    }

    @Test
    void shouldBringChangedLimitsToTheTenant() throws Exception {
        Process job = job(REQUEST);
        Path region = region(lines(job, 8).getFirst());

        LimitsChange.of(Limit.MEMORY, "3g").apply(region);

        String seen = order(job, "memory");
        for (int attempt = 0; attempt < 100 && !seen.equals("memory " + (3L << 30)); attempt++) {
            Thread.sleep(50);
            seen = order(job, "memory");
        }
        assertThat(seen).isEqualTo("memory " + (3L << 30));
    }

    @Test
    void shouldCountChildrenToTheTenant() throws Exception {
        Process job = job(REQUEST);
        String answer = lines(job, 8).getFirst();

        assertThat(order(job, "child")).isEqualTo(answer);
        assertThat(lines(job(REQUEST), 1).getFirst()).startsWith("ok ").isNotEqualTo(answer);
    }

    @Test
    void shouldCountWhatALauncherStartsAsOneJob() throws Exception {
        String start = "/usr/bin/python3 " + folder.resolve("register.py") + " " + socket() + " '" + REQUEST + "' | head -1; ";
        Process launcher = new ProcessBuilder("env", "SLUICE_AGENT=" + socket(), "/bin/sh", "-c", start + start).start();
        launcher.outputWriter().close();

        List<String> answers = lines(launcher, 2);
        assertThat(answers.getFirst()).startsWith("ok ");
        assertThat(answers.getLast()).isEqualTo(answers.getFirst());
    }

    @Test
    @Fault(kind = Fault.Kind.NAMESPACES, of = "a job that registers from a container")
    void shouldSeeTheEndOfAContainerWithPidsOfItsOwn() throws Exception {
        agent.close();
        Path region = Region.createSplit(new RuntimeDirectory(folder.resolve("run")), new RegionDraft("c-0123456789ab-cdefcdefcdef", "", new Identity(1L << 40),
                OnError.FAIL, MemoryLimits.parse("1g")), ThisProcess.current().uid());
        try (Region open = Region.openReadWrite(region)) {
            open.slot(0).pidNamespace(1);
            open.slot(0).owner(7);
        }
        assertThat(Tenant.read(region).state().lives()).isTrue();
        agent = agent();

        for (int attempt = 0; attempt < 200 && Tenant.read(region).state().lives(); attempt++) {
            Thread.sleep(50);
        }
        assertThat(Tenant.read(region).state().lives()).isFalse();
    }

    @Test
    void shouldFollowThePolicy() throws Exception {
        assertThat(lines(job("region " + RegionLayout.LAYOUT + " big"), 8)).contains("memory " + (8L << 30));
        String team = "region " + RegionLayout.LAYOUT + " team";
        assertThat(lines(job(team), 8)).contains("ok team", "memory " + (2L << 30));
        assertThat(lines(job(team), 1)).containsExactly("ok team");
        assertThat(lines(job("region 3 -"), 1).getFirst()).contains("no the library has layout 3 (Sluice ?) and the agent " + RegionLayout.LAYOUT);
        assertThat(lines(job("region 3 - version=0.0.1"), 1).getFirst()).contains("layout 3 (Sluice 0.0.1) and the agent " + RegionLayout.LAYOUT + " (Sluice ");
        assertThat(lines(job(REQUEST + " features=ff colour=blue"), 8)).as("words from later").contains("memory " + (1L << 30));
    }

    @Test
    void shouldKnowTheUserFromTheKernel() throws Exception {
        assumeTrue(ThisProcess.current().uid() == 0 && Files.isExecutable(Path.of("/usr/bin/setpriv")), "root and setpriv are needed");

        assertThat(lines(job(REQUEST, "setpriv", "--reuid=64002", "--clear-groups"), 1).getFirst()).startsWith("no the policy has none for user 64002");
        String answer = lines(job(REQUEST, "setpriv", "--reuid=64001", "--clear-groups"), 8).getFirst();
        assertThat(Tenant.read(region(answer)).uid()).isEqualTo(64001);
        assertThat(agent.client().get("/v1/tenants/" + answer.substring(3)).status()).isEqualTo(200);
    }

    @Test
    void shouldTakeOverTenantsAfterARestart() throws Exception {
        Process job = job(REQUEST);
        String answer = lines(job, 8).getFirst();
        agent.close();
        agent = agent();

        assertThat(order(job, "child")).isEqualTo(answer);
        assertThat(order(job, "memory")).isEqualTo("memory " + (1L << 30));
    }

    @Test
    void shouldHaveLimitsForTenantsOfTheAgentBefore() throws Exception {
        Process job = job(REQUEST);
        String answer = lines(job, 8).getFirst();
        Path region = region(answer);
        try (Region open = Region.openReadWrite(region)) {
            open.slot(3).owner(Identity.of(job.pid()).orElseThrow().word());
        }
        agent.close();
        Files.writeString(folder.resolve("policy"), "* -> refuse\n");
        agent = agent();

        try (Region open = Region.openReadOnly(region)) {
            assertThat(open.slot(3).limitsPage()).as("told to ask").isPositive();
            assertThat(open.slot(4).limitsPage()).as("nobody's").isZero();
        }
        assertThat(order(job, "limits")).isEqualTo("map-limits failed");
        assertThat(job.inputReader().readLine()).isEqualTo(answer);
        LimitsChange.of(Limit.MEMORY, "3g").apply(region);
        for (int attempt = 0; attempt < 100 && !order(job, "memory").equals("memory " + (3L << 30)); attempt++) {
            Thread.sleep(50);
        }
        assertThat(order(job, "memory")).isEqualTo("memory " + (3L << 30));
        assertThat(agent.client().get("/v1/machine").text()).contains("an agent before this one registered it");
    }

    @Test
    void shouldHandTheBoardOfTheFolderToItsUserAndAnotherToStrangers() throws Exception {
        String board = "board " + "ab".repeat(16);
        Process own = job(REQUEST);
        lines(own, 8);
        assertThat(order(own, board)).isEqualTo("board linked");
        assertThat(folder.resolve("run/board-" + "ab".repeat(16))).isRegularFile();

        assumeTrue(ThisProcess.current().uid() == 0 && Files.isExecutable(Path.of("/usr/bin/setpriv")), "root and setpriv are needed");
        Process stranger = job(REQUEST, "setpriv", "--reuid=64001", "--clear-groups");
        lines(stranger, 8);
        assertThat(order(stranger, board)).as("cannot be cut").isEqualTo("board sealed");
    }

    @Test
    void shouldReadThePolicyAgainWhenItChanges() throws Exception {
        Process before = job(REQUEST);
        lines(before, 8);
        Files.writeString(folder.resolve("policy"), "* -> memory=6g\n");
        awaitEvent("the policy was read again, 1 rules");

        assertThat(lines(job(REQUEST), 8)).contains("memory " + (6L << 30));
        assertThat(order(before, "memory")).as("who runs").isEqualTo("memory " + (1L << 30));
        Files.writeString(folder.resolve("policy"), "* -> memory=lots\n");
        awaitEvent("the policy that was read before still holds: ");
        assertThat(lines(job(REQUEST), 8)).contains("memory " + (6L << 30));
    }

    private void awaitEvent(String text) throws Exception {
        for (int attempt = 0; attempt < 200 && !agent.client().get("/v1/machine").text().contains(text); attempt++) {
            Thread.sleep(50);
        }
        assertThat(agent.client().get("/v1/machine").text()).contains(text);
    }

    @Test
    void shouldTakeBackWhatATenantMadeItsLedgerLonger() throws Exception {
        Process job = job(REQUEST);
        Path region = region(lines(job, 8).getFirst());

        assertThat(order(job, "grow")).isEqualTo("grown");

        Path ledger = Path.of(region.toString().replace(".region", ".ledger"));
        for (int attempt = 0; attempt < 100 && Files.size(ledger) > RegionLayout.REGION_BYTES; attempt++) {
            Thread.sleep(50);
        }
        assertThat(Files.size(ledger)).isEqualTo(RegionLayout.REGION_BYTES);
    }

    @Test
    void shouldSayWhatIsWrongInAPolicyWithFileAndLine() throws Exception {
        Path policy = Files.writeString(folder.resolve("bad"), "# nothing\nuser=alice\n* -> memory=lots\n* -> colour=red\nuser=1 user=2 -> refuse\n* -> \n");
        Files.writeString(folder.resolve("bad.conf"), "policy = " + policy + "\n");

        assertThat(org.assertj.core.api.Assertions.catchThrowable(
                () -> Settings.read(folder.resolve("bad.conf"), AgentService.settings(List.of(new RegistrationPart())))))
                .isInstanceOf(SluiceException.class)
                .hasMessageContaining("bad.conf:1: policy: ").hasMessageContaining("bad:2: 'user=alice' is no rule")
                .hasMessageContaining("bad:3: memory: ").hasMessageContaining("bad:4: 'colour=red' is none of the limits")
                .hasMessageContaining("bad:5: user is there twice").hasMessageContaining("bad:6: there are no limits");
    }

    @Test
    void shouldFindContainersInCgroupsOfBothVersions() {
        String id = "0123456789abcdef".repeat(4);
        for (String cgroup : List.of("0::/system.slice/docker-" + id + ".scope\n",
                "0::/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod1.slice/cri-containerd-" + id + ".scope\n",
                "0::/kubepods/besteffort/pod1/crio-" + id + "\n", "12:cpu,cpuacct:/\n5:memory:/docker/" + id + "\n1:name=systemd:/\n",
                "9:memory:/user.slice\n0::/user.slice/libpod-" + id + ".scope/container\n",
                "0::/kubepods-burstable-pod1.slice:cri-containerd:" + id + "\n", "0::/../docker-" + "f".repeat(64) + ".scope/docker/" + id + "\n")) {
            assertThat(RegisteringPeer.container(RegisteringPeer.cgroupOf(cgroup))).as(cgroup).contains(id);
        }
        assertThat(RegisteringPeer.container(RegisteringPeer.cgroupOf("0::/user.slice/user-1000.slice\n"))).isEmpty();
        Identity self = Identity.self();
        assertThat(new RegisteringPeer(0, self, "/docker/" + id + "/init", Optional.of(id)).containerName())
                .isEqualTo(new RegisteringPeer(1, self, "/docker/" + id, Optional.of(id)).containerName())
                .isNotEqualTo(new RegisteringPeer(1, self, "/user.slice/docker/" + id, Optional.of(id)).containerName());
        assertThat(RegisteringPeer.cgroupOf("nonsense")).isEmpty();
        assertThat(RegisteringPeer.cgroupOf("3:cpu:/a\n2:memory:/b\n0::/c\n")).isEqualTo("/b");
    }

    /// Each job that has ended leaves a file for people to look at, but not any number of them.
    @Test
    void shouldNotKeepTheRegionsOfAllJobsThatEnded() throws Exception {
        String script = "import os,socket,sys\nfor i in range(100):\n if os.fork()==0:\n  s=socket.socket(socket.AF_UNIX);s.connect(sys.argv[1])\n"
                + "  s.sendall(('run %s - name=job-%d command=x\\n' % (sys.argv[2],i)).encode())\n  d=s.recv(999)\n  print(d[:3].decode(),flush=True)\n  os._exit(0)\n os.wait()\n";
        Process flood = new ProcessBuilder("/usr/bin/python3", "-c", script, socket().toString(), Integer.toString(RegionLayout.LAYOUT)).start();
        assertThat(flood.inputReader().lines().filter("ok "::equals).count()).isEqualTo(100);

        long files = 100;
        for (int look = 0; look < 100 && files > 40; look++) {
            Thread.sleep(100);
            files = Stream.of(folder.resolve("run").toFile().list()).filter(name -> name.endsWith(".region")).count();
        }
        assertThat(files).isBetween(1L, 40L);
    }
}
