package sluice.it.agent;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.parallel.Isolated;
import sluice.fault.Fault;
import sluice.it.machine.Again;
import sluice.it.machine.Machine;
import sluice.it.machine.OnMachine;
import sluice.it.machine.Timed;

/// Jobs that have nothing but the agent's socket are held to its policy.
@Timeout(120)
@Isolated
class RegistrationTest extends OnMachine {
    private static final long GIB = 1L << 30;

    private Process agent;

    @BeforeEach
    void start() throws Exception {
        Files.writeString(directory.resolve("policy"), "label=timed -> memory=2g compute=50%\nlabel=waits -> memory=1g on-oom=wait:60s\nlabel=weighted -> weight=1\n* -> memory=1g\n");
        startAgent();
    }

    private void startAgent() throws Exception {
        agent = machine.startAgent("policy = " + directory.resolve("policy"), "register-socket = " + socket(), "history-size = 2m");
    }

    private Path socket() {
        return directory.resolve("register/agent-register.sock");
    }

    @AfterEach
    void stop() throws Exception {
        agent.destroyForcibly().waitFor();
    }

    /// The job's runtime directory is not the agent's.
    private Map<String, String> environment(String label) {
        return Map.of("SLUICE_AGENT", socket().toString(), "SLUICE_LABEL", label, "SLUICE_RUNTIME_DIR", directory.resolve("nowhere").toString());
    }

    @Test
    void shouldHoldAJobToTheQuotaOfThePolicy() throws Exception {
        var outcome = machine.preloaded(environment("job"), Machine.program("hog"), "--step", "64m");

        assertThat(outcome.output()).contains("total " + GIB).contains("got 16 " + GIB + " 2");
        assertThat(directory.resolve("nowhere")).doesNotExist();
        assertThat(machine.sluice("ps", "--all").output()).contains("hog-").contains("1.0 GiB");
    }

    /// As in a container: the job does not know its own number on the machine, and cannot say another.
    @Test
    @Fault(kind = Fault.Kind.NAMESPACES, of = "a job that registers from a container")
    void shouldKnowAJobOfAnotherPidNamespaceByItsNumberHere() throws Exception {
        String[] unshare = {"unshare", "--user", "--map-root-user", "--pid", "--fork", "--mount-proc", "--kill-child"};
        assumeTrue(machine.bare(join(unshare, "true")).status() == 0, "this machine gives no namespaces to users");
        Process job = machine.startPreloaded(environment("job"), join(unshare, Machine.program("hog"), "--step", "64m", "--count", "4", "--hold", "60000"));
        Machine.awaitLine(job, "got 4 ");
        long pid = job.descendants().filter(each -> each.info().command().orElse("").endsWith("hog")).findFirst().orElseThrow().pid();
        String name = name();

        assertThat(machine.sluice("inspect", name).output()).containsPattern("\\b" + pid + "\\b").contains("256.0 MiB");
        assertThat(machine.sluice("ps").output()).contains(name).contains("256.0 MiB").contains("1.0 GiB");
        ProcessHandle.of(pid).orElseThrow().destroyForcibly();
        assertThat(eventually(() -> !machine.sluice("ps").output().contains(name))).as("the job is gone from the list of those that run").isTrue();
    }

    private static String[] join(String[] first, String... then) {
        return Stream.concat(Arrays.stream(first), Arrays.stream(then)).toArray(String[]::new);
    }

    private static boolean eventually(Callable<Boolean> holds) throws Exception {
        for (int look = 0; look < 50; look++) {
            if (holds.call()) {
                return true;
            }
            Thread.sleep(100);
        }
        return false;
    }

    @Test
    void shouldCapTheTimeOfAJob() throws Exception {
        var outcome = machine.preloaded(environment("timed"), Machine.program("hog"), "--step", "64m");

        assertThat(outcome.output()).contains("got 32 " + 2 * GIB + " 2");
        assertThat(outcome.errors()).doesNotContain("board");
    }

    @Test
    @Fault(kind = Fault.Kind.KILL, of = "the agent that gave a job its region")
    void shouldGoOnWithoutTheAgentAndBeTakenOverByTheNext() throws Exception {
        Process job = machine.startPreloaded(environment("job"), Machine.program("hog"), "--step", "64m", "--count", "4", "--hold", "4000", "--exec", "1");
        Machine.awaitLine(job, "got ");
        agent.destroyForcibly().waitFor();
        startAgent();

        assertThat(machine.sluice("ps").output()).contains("hog-").contains("256.0 MiB").contains("1.0 GiB");
        var outcome = Machine.await(job);
        assertThat(outcome.errors()).as("the new image registers anew").doesNotContain("without limits");
        assertThat(machine.sluice("ps", "--all").output().lines().filter(each -> each.contains("hog-"))).hasSize(1);
    }

    private String name() throws Exception {
        var names = Pattern.compile("\"tenant\" ?: ?\"((?:hog|windows)-[0-9]+)\"").matcher(machine.askAgent("/v1/tenants"));
        assertThat(names.find()).as("a registered tenant").isTrue();
        return names.group(1);
    }

    private Process endless(String label) throws Exception {
        return machine.startPreloaded(environment(label), Machine.program("windows"), machine.kernels(), "100000000", "500");
    }

    private long usedNanos(String tenant) throws Exception {
        var used = Pattern.compile("\"usedNanos\" ?: ?([0-9]+)").matcher(machine.askAgent("/v1/tenants/" + tenant));
        return used.find() ? Long.parseLong(used.group(1)) : 0;
    }

    private double share(String tenant) throws Exception {
        long used = usedNanos(tenant);
        long began = System.nanoTime();
        Thread.sleep(2000);
        return (double) (usedNanos(tenant) - used) / (System.nanoTime() - began);
    }

    /// Its processes had their limits from an agent that was killed, in memory that nobody can write any more.
    @Test
    @Timed
    @Fault(kind = Fault.Kind.KILL, of = "the agent that gave a job its region")
    void shouldChangeTheShareOfAJobOfAKilledAgent() throws Exception {
        Process job = endless("timed");
        for (int look = 0; look < 200 && !machine.askAgent("/v1/tenants").contains("usedNanos"); look++) {
            Thread.sleep(50);
        }
        String name = name();
        agent.destroyForcibly().waitFor();
        startAgent();
        Again.atMost(0.65, 0.25, () -> share(name));

        assertThat(machine.sluice("set", name, "--compute", "5%").status()).isZero();
        Thread.sleep(1000);
        Again.atMost(0.15, 0.01, () -> share(name));
    }

    @Test
    @Fault(kind = Fault.Kind.KILL, of = "the agent that gave a job its region")
    void shouldRaiseTheQuotaOfAJobOfAKilledAgentThatWaits() throws Exception {
        Process job = machine.startPreloaded(environment("waits"), Machine.program("hog"), "--step", "64m", "--count", "24");
        for (int look = 0; look < 200 && !machine.askAgent("/v1/tenants").contains("\"usedBytes\":" + GIB); look++) {
            Thread.sleep(50);
        }
        agent.destroyForcibly().waitFor();
        startAgent();

        assertThat(machine.sluice("set", name(), "--memory", "2g").status()).isZero();
        assertThat(Machine.await(job).output()).contains("got 24 " + 24 * 64 * (GIB >> 10) + " 0");
    }

    @Test
    @Timed
    void shouldTakeTurnsWithTenantsOfRun() throws Exception {
        Process job = endless("weighted");
        Process other = machine.startSluice("run", "--sim", "--name", "other", "--weight", "3", "--", Machine.program("windows"), machine.kernels(), "100000000", "500");
        String boards = "";
        for (int look = 0; look < 200 && !(boards.contains("other") && boards.contains("windows-")); look++) {
            Thread.sleep(50);
            String all = machine.askAgent("/v1/machine");
            boards = all.substring(all.indexOf("\"boards\""), all.indexOf("\"findings\""));
        }
        assertThat(boards.split("\"uuid\"", -1)).as("one board: " + boards).hasSize(2);
        Again.between(1.8, 4.5, () -> {
            double registered = share(name());
            return share("other") / registered;
        });
    }

    @Test
    void shouldFallBackWhenThereIsNoAgent() throws Exception {
        agent.destroyForcibly().waitFor();
        Files.deleteIfExists(socket());
        Files.deleteIfExists(socket().resolveSibling("on-error"));
        var run = machine.preloaded(environment("job"), Machine.program("hog"), "--step", "1g", "--count", "2");
        assertThat(run.errors()).contains("no agent at SLUICE_AGENT=").contains("the program runs without limits");
        assertThat(run.output()).contains("got 2 ");

        var failing = machine.with("SLUICE_ON_ERROR", "fail").preloaded(environment("job"), Machine.program("hog"), "--count", "1");
        assertThat(failing.errors()).contains("CUDA calls fail");
    }

    @Test
    void shouldFailWithoutAnAgentWhereTheMachineSaysSo() throws Exception {
        agent.destroyForcibly().waitFor();
        assertThat(socket().resolveSibling("on-error")).hasContent("fail");

        var failing = machine.with("SLUICE_ON_ERROR", "run").with("SLUICE_MEMORY", "8g").preloaded(environment("job"), Machine.program("hog"), "--count", "1");
        assertThat(failing.errors()).contains("no agent at SLUICE_AGENT=").contains("CUDA calls fail");
    }
}
