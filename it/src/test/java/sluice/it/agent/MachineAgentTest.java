package sluice.it.agent;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.parallel.Isolated;
import sluice.fault.Fault;
import sluice.it.machine.Again;
import sluice.it.machine.Machine;
import sluice.it.machine.OnMachine;
import sluice.it.machine.Timed;

/// `sluice run` of several users on a machine whose agent serves all of them.
@Timeout(120)
@Isolated
class MachineAgentTest extends OnMachine {
    private static final int ALICE = 64201;
    private static final int BOB = 64202;

    private Process agent;

    @BeforeEach
    void start() throws Exception {
        assumeTrue("root".equals(System.getProperty("user.name")) && Files.isExecutable(Path.of("/usr/bin/setpriv")), "root and setpriv are needed");
        Files.setPosixFilePermissions(directory, PosixFilePermissions.fromString("rwxr-xr-x"));
        Path state = Files.createFile(directory.resolve("gpu"));
        Files.setPosixFilePermissions(state, PosixFilePermissions.fromString("rw-rw-rw-"));
        machine.kernels();
    }

    private void startAgent(String... policy) throws Exception {
        List<String> lines = new ArrayList<>(List.of("all-users = yes", "look-in = " + directory, "socket = " + machine.runtimeDirectory().resolve("agent.sock"),
                "register-socket = " + socket(), "history-size = 2m"));
        if (policy.length > 0) {
            Files.write(directory.resolve("policy"), List.of(policy));
            lines.add("policy = " + directory.resolve("policy"));
        }
        agent = machine.startAgent(lines.toArray(String[]::new));
    }

    private Path socket() {
        return directory.resolve("register/agent-register.sock");
    }

    /// `sluice …` of a user, whose own runtime directory cannot be used.
    private Process of(int user, String... arguments) throws Exception {
        List<String> command = new ArrayList<>(List.of("/usr/bin/setpriv", "--reuid=" + user, "--regid=" + user, "--clear-groups",
                "env", "SLUICE_AGENT=" + socket(), "SLUICE_RUNTIME_DIR=" + directory.resolve("nowhere"), Machine.HOME.resolve("bin/sluice").toString()));
        command.addAll(List.of(arguments));
        return machine.startPlain(command.toArray(String[]::new));
    }

    private Machine.Outcome outcome(int user, String... arguments) throws Exception {
        return Machine.await(of(user, arguments));
    }

    private Process endless(int user, String name, String... options) throws Exception {
        List<String> arguments = new ArrayList<>(List.of("run", "--sim", "--name", name));
        arguments.addAll(List.of(options));
        arguments.addAll(List.of("--", Machine.program("windows"), machine.kernels(), "100000000", "500"));
        return of(user, arguments.toArray(String[]::new));
    }

    private long usedNanos(String tenant) throws Exception {
        var used = Pattern.compile("\"usedNanos\" ?: ?([0-9]+)").matcher(machine.askAgent("/v1/tenants/" + tenant));
        return used.find() ? Long.parseLong(used.group(1)) : 0;
    }

    /// How many times as much time the first got as the second.
    private double ratio(String first, String second) throws Exception {
        for (int look = 0; look < 200 && (usedNanos(first) == 0 || usedNanos(second) == 0); look++) {
            Thread.sleep(50);
        }
        Thread.sleep(500);
        long one = usedNanos(first);
        long other = usedNanos(second);
        Thread.sleep(3000);
        return (double) (usedNanos(first) - one) / (usedNanos(second) - other);
    }

    private String boards() throws Exception {
        String all = machine.askAgent("/v1/machine");
        return all.substring(all.indexOf("\"boards\""), all.indexOf("\"findings\""));
    }

    @Test
    @Timed
    void shouldShareByWeightAmongJobsOfDifferentUsers() throws Exception {
        startAgent();
        endless(ALICE, "job", "--weight", "3");
        endless(BOB, "other", "--weight", "1");

        Again.between(2.2, 4.2, () -> ratio("job", "other"));
        assertThat(boards().split("\"uuid\"", -1)).as("one board: " + boards()).hasSize(2);
    }

    @Test
    @Timed
    @Fault(kind = Fault.Kind.KILL, of = "the agent while jobs run")
    void shouldShareWithJobsThatBeganBeforeTheAgentWasKilled() throws Exception {
        startAgent("label=container -> weight=1", "* -> weight=3");
        machine.startPreloaded(Map.of("SLUICE_AGENT", socket().toString(), "SLUICE_LABEL", "container", "SLUICE_RUNTIME_DIR", directory.resolve("nowhere").toString()),
                Machine.program("windows"), machine.kernels(), "100000000", "500");
        for (int look = 0; look < 200 && !boards().contains("windows-"); look++) {
            Thread.sleep(50);
        }
        agent.destroyForcibly().waitFor();
        startAgent("label=container -> weight=1", "* -> weight=3");
        endless(ALICE, "after", "--weight", "3");

        var before = Pattern.compile("\"tenant\" ?: ?\"(windows-[0-9]+)\"").matcher(machine.askAgent("/v1/tenants"));
        assertThat(before.find()).isTrue();
        Again.between(2.2, 4.2, () -> ratio("after", before.group(1)));
        assertThat(boards().split("\"uuid\"", -1)).as("one board: " + boards()).hasSize(2);
        assertThat(machine.askAgent("/v1/machine")).doesNotContain("cannot be taken over");
    }

    @Test
    void shouldHoldJobsOfRunToThePolicyAndSayWhatIsLess() throws Exception {
        startAgent("user=" + ALICE + " -> memory=1g weight=2", "user=" + BOB + " -> refuse", "* -> memory=512m");

        var more = outcome(ALICE, "run", "--sim", "--memory", "4g", "--weight", "5", "--", Machine.program("hog"), "--step", "64m");
        assertThat(more.output()).contains("total " + (1 << 30)).contains("got 16 ");
        assertThat(more.errors()).contains("the machine's policy gives less than was asked for: memory is 1.0 GiB and not 4.0 GiB, weight is 2 and not 5\n")
                .contains("was refused").hasLineCount(2);

        var less = outcome(ALICE, "run", "--sim", "--memory", "256m", "--", Machine.program("hog"), "--step", "64m");
        assertThat(less.output()).contains("total " + (256 << 20)).contains("got 4 ");
        assertThat(less.errors()).containsPattern("'sluice set hog-\\d+ --memory 320m' raises the limit, if the machine's policy allows it").hasLineCount(1);

        var unasked = outcome(ALICE, "run", "--sim", "--", Machine.program("hog"), "--step", "64m");
        assertThat(unasked.output()).contains("total " + (1 << 30));

        var refused = outcome(BOB, "run", "--sim", "--memory", "1g", "--", Machine.program("hog"));
        assertThat(refused.status()).isEqualTo(125);
        assertThat(refused.errors()).contains("the policy has none for user " + BOB);
    }

    @Test
    void shouldLetUsersHaveTenantsOfOneNameAndSetTheirOwn() throws Exception {
        startAgent("* -> memory=1g");
        Process first = of(ALICE, "run", "--sim", "--name", "train", "--", Machine.program("hog"), "--step", "64m", "--count", "1", "--hold", "60000");
        Process second = of(BOB, "run", "--sim", "--name", "train", "--", Machine.program("hog"), "--step", "64m", "--count", "1", "--hold", "60000");
        Machine.awaitLine(first, "got 1");
        Machine.awaitLine(second, "got 1");

        String tenants = machine.askAgent("/v1/tenants");
        assertThat(tenants.split("\"tenant\":\"train\"", -1)).as(tenants).hasSize(3);
        assertThat(tenants).contains("hog --step 64m");
        var again = outcome(ALICE, "run", "--sim", "--name", "train", "--", Machine.program("hog"));
        assertThat(again.status()).isEqualTo(125);
        assertThat(again.errors()).contains("train");
        assertThat(set(ALICE, "{\"memory\":\"512m\"}")).contains("200 OK");
        assertThat(set(ALICE, "{\"memory\":\"2g\"}")).contains("403").contains("more than the machine's policy gives");
        assertThat(set(ALICE, "{\"memory\":\"none\"}")).contains("403");
        assertThat(set(ALICE, "{\"weight\":\"3\"}")).contains("200 OK");
    }

    private String set(int user, String body) throws Exception {
        String script = "import socket,sys\ns=socket.socket(socket.AF_UNIX);s.connect(sys.argv[1])\nb=sys.argv[2]\n"
                + "s.sendall(('PATCH /v1/tenants/train/limits HTTP/1.1\\r\\nHost: a\\r\\nConnection: close\\r\\nContent-Length: %d\\r\\n\\r\\n%s'%(len(b),b)).encode())\n"
                + "d=b''\nwhile True:\n x=s.recv(65536)\n if not x: break\n d+=x\nprint(d.decode())\n";
        Files.setPosixFilePermissions(machine.runtimeDirectory(), PosixFilePermissions.fromString("rwx--x--x"));
        var outcome = machine.plain("/usr/bin/setpriv", "--reuid=" + user, "--clear-groups", "/usr/bin/python3", "-c", script,
                machine.runtimeDirectory().resolve("agent.sock").toString(), body);
        Files.setPosixFilePermissions(machine.runtimeDirectory(), PosixFilePermissions.fromString("rwx------"));
        return outcome.output() + outcome.errors();
    }

    @Test
    void shouldSayThatSharesHoldAmongOnesOwnJobsWithoutAnAgent() throws Exception {
        var shares = machine.sluice("run", "--sim", "--weight", "3", "--", "true");
        assertThat(shares.errors()).contains("shares of GPU time hold among your own jobs only").hasLineCount(1);
        assertThat(shares.status()).isZero();
        assertThat(machine.sluice("run", "--sim", "--memory", "1g", "--", "true").errors()).isEmpty();
        startAgent("* -> memory=1g");
        var without = machine.with("SLUICE_AGENT", socket().toString()).sluice("run", "--sim", "--no-agent", "--weight", "3", "--", "true");
        assertThat(without.errors()).contains("the machine's agent is not asked").hasLineCount(1);
    }

    @Test
    @Timed
    void shouldRunNoJobWithoutAnAnswerWhereTheMachineSaysSo() throws Exception {
        startAgent("* -> memory=1g");
        agent.destroyForcibly().waitFor();

        Again.atLeast(5, 12, () -> {
            long began = System.nanoTime();
            var refused = outcome(ALICE, "run", "--sim", "--memory", "1g", "--", Machine.program("hog"));
            assertThat(refused.status()).isEqualTo(125);
            assertThat(refused.errors()).contains("does not answer").contains("this machine runs no job without it");
            return (System.nanoTime() - began) / 1e9;
        });
    }
}
