package sluice.it.trace;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Map;
import org.junit.jupiter.api.Test;
import sluice.it.machine.Machine;
import sluice.it.machine.OnMachine;

/// Every call of a tenant is counted, whichever way the program came to the function, and can be looked at afterwards.
class StatTest extends OnMachine {
    private static long number(String json, String function, String key) {
        String from = json.substring(json.indexOf('"' + function + '"'));
        return Long.parseLong(from.replaceFirst("(?s).*?\"" + key + "\" : (\\d+).*", "$1"));
    }

    @Test
    void shouldCountTheCallsOfARunningTenantAndKeepThem() throws Exception {
        Process job = machine.startSluice("run", "--sim", "--name", "job", "--memory", "1g", "--",
                Machine.program("hog"), "--step", "256m", "--hold", "60000");
        String line = Machine.awaitLine(job, "got ");
        String json = machine.sluice("stat", "job", "--json").output();
        assertThat(json).contains("\"counted\" : true").contains("\"running\" : true");
        assertThat(number(json, "cuInit", "calls")).isEqualTo(2);
        long got = Long.parseLong(line.split(" ")[1]);
        assertThat(number(json, "cuMemAlloc_v2", "calls")).isEqualTo(got + 1);
        assertThat(number(json, "cuMemAlloc_v2", "failed")).as("the one over the quota").isEqualTo(1);
        assertThat(number(json, "cuMemAlloc_v2", "bytes")).isEqualTo(got << 28);
        assertThat(number(json, "cuMemAlloc_v2", "nanos")).isPositive();
        assertThat(number(json, "refusedCalls", "refusedCalls")).isEqualTo(1);
        job.destroyForcibly().waitFor();
        var text = machine.sluice("stat", "job", "--watch");
        assertThat(text.status()).isZero();
        assertThat(text.output()).contains("job, ended").contains("cuMemAlloc_v2").contains(" calls that take some, for ");
        assertThat(machine.sluice("stat", "job", "--top", "1").output()).contains("more; --top 0 shows all");
    }

    /// As for a user whose job has its region from the machine's agent: there is a socket, and no region in the user's folder.
    @Test
    void shouldShowTheSameThroughAnAgent() throws Exception {
        Path elsewhere = Files.createDirectory(directory.resolve("elsewhere"), PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
        Process agent = machine.startAgent("socket = " + elsewhere.resolve("agent.sock"));
        Process job = machine.startSluice("run", "--sim", "--name", "job", "--memory", "1g", "--", Machine.program("hog"), "--step", "256m", "--hold", "60000");
        Machine.awaitLine(job, "got ");
        String direct = machine.sluice("stat", "job").output();
        Machine user = machine.with("SLUICE_RUNTIME_DIR", elsewhere.toString());
        assertThat(user.sluice("stat", "job").output()).contains("cuMemAlloc_v2").isEqualTo(direct);
        assertThat(number(user.sluice("stat", "job", "--json").output(), "cuMemAlloc_v2", "failed")).isEqualTo(1);
        var trace = user.sluice("trace", "job", "--for", "1s");
        assertThat(trace.status()).isEqualTo(1);
        assertThat(trace.errors()).contains("the region of 'job' is the agent's").contains("SLUICE_TRACE=FOLDER");
    }

    @Test
    void shouldAddTheCallsOfAllProcesses() throws Exception {
        Process family = machine.startSluice("run", "--sim", "--name", "family", "--memory", "1g", "--",
                Machine.program("hog"), "--children", "16", "--step", "64m", "--hold", "600000");
        assertThat(Machine.pieces(family, 16)).isEqualTo(16);
        String json = machine.sluice("stat", "family", "--json").output();
        assertThat(number(json, "cuMemAlloc_v2", "calls") - number(json, "cuMemAlloc_v2", "failed")).isEqualTo(16);
        assertThat(number(json, "cuMemAlloc_v2", "failed")).isEqualTo(16);
    }

    @Test
    void shouldCountAProgramThatIsLinkedWithTheDriver() throws Exception {
        machine.preloaded(Map.of("SLUICE_MEMORY", "4g", "SLUICE_TENANT", "linked"), Machine.program("linked"), String.valueOf(2L << 30));
        String json = machine.sluice("stat", "linked", "--json").output();
        assertThat(number(json, "cuInit", "calls")).isEqualTo(1);
        assertThat(number(json, "cuMemAlloc_v2", "bytes")).isEqualTo((2L << 30) + (1 << 20));
    }

    @Test
    void shouldSayWhichTenantIsNotThere() throws Exception {
        var outcome = machine.sluice("stat", "nobody");
        assertThat(outcome.status()).isEqualTo(1);
        assertThat(outcome.errors()).contains("nobody");
    }
}
