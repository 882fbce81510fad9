package sluice.it.hostile;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.util.Arrays;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import sluice.fault.Fault;
import sluice.it.machine.Machine;
import sluice.it.machine.OnMachine;

/// Processes of one tenant in several pid namespaces: whoever is killed gives its bytes and its tenant's name back.
@Fault(kind = Fault.Kind.NAMESPACES, of = "a tenant in several pid namespaces")
class NamespaceTest extends OnMachine {
    private static final String[] UNSHARE = {"unshare", "--user", "--map-root-user", "--pid", "--fork", "--mount-proc", "--kill-child"};
    private static final long MIB = 1 << 20;

    @BeforeEach
    void needNamespaces() throws Exception {
        assumeTrue(machine.bare(within("true")).status() == 0, "this machine gives no namespaces to users");
    }

    private static String[] within(String... command) {
        return Stream.concat(Arrays.stream(UNSHARE), Arrays.stream(command)).toArray(String[]::new);
    }

    private static Map<String, String> tenant(String memory) {
        return Map.of("SLUICE_TENANT", "job", "SLUICE_MEMORY", memory);
    }

    private void killWithin() throws Exception {
        Process job = machine.startPreloaded(tenant("1g"), within(Machine.program("hog"), "--step", "64m", "--count", "8", "--hold", "60000"));
        Machine.awaitLine(job, "got 8 ");
        ProcessHandle hog = job.descendants().filter(each -> each.info().command().orElse("").endsWith("hog")).findFirst().orElseThrow();
        hog.destroyForcibly();
        hog.onExit().get();
        job.destroyForcibly().waitFor();
    }

    @Test
    void shouldGiveTheBytesOfTheKilledBack() throws Exception {
        Process first = machine.startPreloaded(tenant("1g"), Machine.program("hog"), "--step", "64m", "--count", "2", "--hold", "60000");
        Machine.awaitLine(first, "got 2 ");
        killWithin();

        assertThat(machine.sluice("ps").output()).contains("128.0 MiB");
        assertThat(machine.preloaded(tenant("1g"), Machine.program("hog"), "--step", "64m").output()).contains("got 14 " + 896 * MIB + " 2");
    }

    @Test
    void shouldGiveTheNameOfAKilledTenantBack() throws Exception {
        killWithin();

        assertThat(machine.sluice("ps").output()).doesNotContain("512.0 MiB");
        assertThat(machine.sluice("run", "--sim", "--name", "job", "--memory", "512m", "--", Machine.program("hog"), "--step", "64m").output())
                .contains("got 8 " + 512 * MIB + " 2");
    }

    @Test
    void shouldGiveTheNameBackToAnotherNamespace() throws Exception {
        killWithin();

        assertThat(machine.preloaded(tenant("512m"), within(Machine.program("hog"), "--step", "64m")).output()).contains("got 8 " + 512 * MIB + " 2");
    }
}
