package sluice.it.agent;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.abort;

import java.io.IOException;
import java.net.SocketException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import sluice.api.client.AgentSockets;
import sluice.fault.Fault;
import sluice.it.machine.Machine;
import sluice.it.machine.OnMachine;

/// The audit with real processes on the simulated GPU. It finds a process that escapes the library, and never one that is in order.
@Timeout(180)
class AuditTest extends OnMachine {
    private static final int TERMINATED = 128 + 15;
    private static final String LOST = "lost: it does not answer the driver; restart the machine";

    @BeforeEach
    void start() throws Exception {
        machine.with("LD_LIBRARY_PATH", Machine.SIM.toString());
    }

    /// A tenant that holds 512 MiB when this returns.
    private Process inOrder(String name) throws Exception {
        return holding(machine.startSluice("run", "--sim", "--name", name, "--memory", "2g", "--",
                Machine.program("hog"), "--step", "256m", "--count", "2", "--hold", "120000"));
    }

    /// A job of a tenant that becomes a program without the library.
    private Process escaped() throws Exception {
        return holding(machine.startSluice("run", "--sim", "--memory", "1g", "--", "sh", "-c",
                "exec env -u LD_PRELOAD " + Machine.program("hog") + " --step 256m --count 8 --hold 120000"));
    }

    private Process holding(Process process) throws Exception {
        Machine.awaitLine(process, "got ");
        return process;
    }

    /// When the agent told of something.
    private Instant awaitEvent(String text) throws Exception {
        Pattern event = Pattern.compile("\"atNanos\":(\\d+),\"kind\":\"\\w+\",\"tenant\":\"[^\"]*\",\"uid\":\\d+,\"text\":\"" + text);
        Matcher found = event.matcher(machine.askAgent("/v1/machine"));
        while (!found.find()) {
            Thread.sleep(100);
            found = event.matcher(machine.askAgent("/v1/machine"));
        }
        return Instant.ofEpochSecond(0, Long.parseLong(found.group(1)));
    }

    @Test
    @Fault(kind = Fault.Kind.HOSTILE_USERS, of = "the audit, by a program that escapes")
    void shouldFindAndStopOnlyProcessesThatEscape() throws Exception {
        machine.startAgent("audit-stop = unregistered", "audit-grace = 3s");
        Process good = inOrder("good");
        Process escaped = escaped();
        Instant holds = Instant.now();

        Instant found = awaitEvent("pid " + escaped.pid() + " .* has 2.0 GiB on GPU 0 and is in no ledger");

        assertThat(Duration.between(holds, found)).isLessThan(Duration.ofSeconds(5));
        assertThat(escaped.waitFor()).isEqualTo(TERMINATED);
        awaitEvent("stopped pid " + escaped.pid());
        awaitEvent("pid " + escaped.pid() + " .* is no longer to be found");
        assertThat(good.waitFor(3, TimeUnit.SECONDS)).isFalse();
        assertThat(machine.askAgent("/v1/audit")).contains("\"audited\":true", "\"findings\":[]");
        assertThat(machine.askAgent("/v1/machine")).doesNotContain("pid " + good.pid());
        var audit = machine.sluice("audit");
        assertThat(audit.output()).isEqualTo("Every process on the GPU is in order.\n");
        assertThat(audit.status()).isZero();
    }

    /// `sluice audit` asks that agent where the user has none.
    private static void assumeThatTheMachineHasNoAgent() throws IOException {
        try (SocketChannel channel = SocketChannel.open(StandardProtocolFamily.UNIX)) {
            channel.connect(UnixDomainSocketAddress.of(AgentSockets.OF_ALL));
            abort("an agent for all users answers at " + AgentSockets.OF_ALL);
        } catch (SocketException e) {
            // There is none.
        }
    }

    @Test
    void shouldReportAloneUnlessAskedToStop() throws Exception {
        assumeThatTheMachineHasNoAgent();
        inOrder("good");
        Process escaped = escaped();

        var alone = machine.sluice("audit");
        assertThat(alone.lines()).as(alone.errors()).hasSize(2);
        assertThat(alone.lines().get(1)).startsWith("unknown").contains(" " + escaped.pid() + " ", "2.0 GiB", "reported", "hog");
        assertThat(alone.status()).isEqualTo(1);
        assertThat(machine.sluice("ps").output()).doesNotContain("past Sluice");

        machine.startAgent();
        awaitEvent("pid " + escaped.pid());
        assertThat(machine.sluice("ps").lines().getLast()).isEqualTo("1 process uses a GPU past Sluice; 'sluice audit' tells more");
        assertThat(machine.sluice("audit", "--json").output()).contains("\"kind\" : \"unknown\"", "\"pid\" : " + escaped.pid(), "\"usedBytes\" : " + (2L << 30));
        assertThat(escaped.isAlive()).isTrue();
    }

    @Test
    void shouldFindNoProcessAmongManyThatAllocateAndFree() throws Exception {
        machine.with("SLUICE_SIM_CONTEXT", "64m");
        machine.startAgent("audit-stop = all", "audit-grace = 0s", "audit-kill-after = 0s", "audit-every = 100ms");

        Process steady = machine.startSluice("run", "--sim", "--name", "steady", "--memory", "4g", "--",
                Machine.program("profiled"), machine.kernels(), "0", "--processes", "8", "--bytes", Integer.toString(64 << 20));
        String hog = Machine.program("hog") + " --children 4 --step 64m --count 8 --hold 20 --end free";
        var fleeting = machine.sluice("run", "--sim", "--name", "fleeting", "--memory", "4g", "--", "sh", "-c", "for i in $(seq 100); do " + hog + "; done");
        steady.getOutputStream().close();

        assertThat(fleeting.status()).as(fleeting.output() + fleeting.errors()).isZero();
        assertThat(Machine.await(steady).status()).as("none of its processes was stopped").isZero();
        String events = machine.askAgent("/v1/machine");
        assertThat(events).contains("\"kind\":\"began\",\"tenant\":\"steady\"").doesNotContain("\"kind\":\"audit\"");
    }

    /// Its contexts and code are booked although nothing of it can be refused.
    @Test
    void shouldLeaveAJobWithAShareAndNoQuotaAlone() throws Exception {
        machine.with("SLUICE_SIM_CONTEXT", "600m");
        machine.startAgent("audit-stop = all", "audit-grace = 0s", "audit-kill-after = 0s", "audit-every = 100ms");

        Process job = holding(machine.startSluice("run", "--sim", "--name", "share", "--weight", "2", "--",
                Machine.program("hog"), "--step", "64m", "--count", "2", "--hold", "120000"));

        assertThat(job.waitFor(3, TimeUnit.SECONDS)).isFalse();
        assertThat(machine.askAgent("/v1/audit")).contains("\"audited\":true", "\"findings\":[]");
        assertThat(machine.askAgent("/v1/machine")).doesNotContain("\"kind\":\"audit\"");
    }

    /// Without a quota a library may book no contexts; what they take is no reason to accuse a job.
    @Test
    void shouldNotAccuseJobsThatHaveAShareAndNoQuota() throws Exception {
        machine.with("SLUICE_SIM_CONTEXT", "480m");
        machine.startAgent("audit-stop = all", "audit-grace = 0s", "audit-kill-after = 0s", "audit-every = 100ms");
        List<Process> jobs = new ArrayList<>();
        for (String option : List.of("--weight 2", "--compute 50%", "--priority low", "--exclusive", "")) {
            List<String> arguments = new ArrayList<>(List.of("run", "--sim"));
            arguments.addAll(List.of(option.isEmpty() ? new String[0] : option.split(" ")));
            arguments.addAll(List.of("--", Machine.program("hog"), "--step", "32m", "--count", "2", "--hold", "5000"));
            jobs.add(machine.startSluice(arguments.toArray(String[]::new)));
        }
        Process escaped = escaped();

        awaitEvent("pid " + escaped.pid() + " .* is in no ledger");
        for (Process job : jobs) {
            var outcome = Machine.await(job);
            assertThat(outcome.status()).as(outcome.output() + outcome.errors()).isZero();
            assertThat(outcome.output()).contains("got 2 ");
        }
        assertThat(machine.askAgent("/v1/machine")).doesNotContain("more than its ledger says");
    }

    @Test
    void shouldTellWhatIsWrongWithAGpu() throws Exception {
        machine.with("SLUICE_SIM_XID", "79").with("SLUICE_SIM_ECC", "2").with("SLUICE_SIM_TEMPERATURE", "91");
        machine.startAgent();

        awaitEvent("GPU 0: Xid 79");

        awaitEvent("GPU 0: uncorrectable ECC errors since the driver was loaded: 2");
        assertThat(machine.sluice("audit").output()).contains("GPU 0: Xid 79\n", "GPU 0: hot: 91 °C, slows down at 90\n");
        assertThat(machine.askAgent("/v1/machine")).contains("\"temperatureCelsius\":91", "\"Xid 79\"");
    }

    @Test
    void shouldGoOnWithTheOthersWhenAGpuIsLost() throws Exception {
        machine.with("SLUICE_SIM_GPUS", "2").with("SLUICE_SIM_LOST", "0@6s");
        machine.startAgent();
        String before = machine.askAgent("/v1/machine");

        awaitEvent("GPU 0: " + LOST);

        String uuid = "GPU-736c7569-6365-2d73-696d-2d6770750000";
        assertThat(before).contains("\"gpu\":0,\"uuid\":\"" + uuid).doesNotContain(LOST);
        assertThat(machine.askAgent("/v1/machine")).contains(uuid, "\"health\":[\"" + LOST + "\"],", "\"gpu\":1,", "\"health\":[],");
        assertThat(machine.sluice("audit").output()).contains("GPU 0: " + LOST + "\n").doesNotContain("GPU 1: ");
    }

    @Test
    void shouldSayWhichGpuWasLostBefore() throws Exception {
        assumeThatTheMachineHasNoAgent();
        machine.with("SLUICE_SIM_GPUS", "2").with("SLUICE_SIM_LOST", "0");

        assertThat(machine.sluice("audit").output()).contains("GPU 0: " + LOST + "\n").doesNotContain("GPU 1: ");
        assertThat(machine.sluice("doctor").output()).contains("fail  GPU 0: " + LOST, "ok    GPU 1: Sluice Simulated GPU");
        assertThat(machine.sluice("monitor", "mem", "--count", "1").errors()).isEqualTo("sluice: GPU 0: " + LOST + "\n");
        assertThat(machine.sluice("top", "--once").output()).contains("lost: it does not answer the driver");
        machine.startAgent();
        assertThat(machine.askAgent("/metrics")).contains("sluice_gpu_healthy{gpu=\"0\",gpu_uuid=\"unknown-0\"} 0.0", "sluice_gpu_healthy{gpu=\"1\"");
    }

    @Test
    void shouldAskADriverThatHasOnlyTheOlderCalls() throws Exception {
        machine.with("SLUICE_SIM_DRIVER", "11050");

        assertThat(machine.sluice("doctor").output()).contains("ok    GPU 0: Sluice Simulated GPU, 16.0 GiB");
        assertThat(machine.sluice("audit").output()).isEqualTo("Every process on the GPU is in order.\n");
    }
}
