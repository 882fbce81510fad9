package sluice.it.command;

import static org.assertj.core.api.Assertions.assertThat;
import static sluice.it.machine.Mistake.assertMistake;

import java.util.Map;
import org.junit.jupiter.api.Test;
import sluice.fault.Fault;
import sluice.it.machine.Machine;
import sluice.it.machine.OnMachine;
import sluice.region.layout.RegionLayout;

/// Processes of one tenant share a quota, and people can see who holds what.
class TenantsTest extends OnMachine {
    @Test
    void shouldShowWhatARunningTenantHolds() throws Exception {
        Process job = machine.startSluice("run", "--sim", "--name", "job", "--memory", "2g", "--",
                Machine.program("hog"), "--step", "256m", "--count", "4", "--hold", "60000");
        Machine.awaitLine(job, "got ");
        var table = machine.sluice("ps");
        assertThat(table.output()).contains("job").contains("1.0 GiB").contains("2.0 GiB").contains(String.valueOf(job.pid()));
        var json = machine.sluice("ps", "--json");
        assertThat(json.output()).contains("\"" + "job" + "\"").contains(String.valueOf(1L << 30));
        assertThat(machine.sluice("inspect", "job").output()).contains("pid").contains("1.0 GiB").contains("layout " + RegionLayout.LAYOUT);
        job.destroyForcibly().waitFor();
        assertThat(machine.sluice("ps").output()).doesNotContain("job");
        assertThat(machine.sluice("ps", "--all").output()).contains("job").contains("ended");
    }

    @Test
    @Fault(kind = Fault.Kind.EXHAUST, of = "a quota, by many processes at once")
    void shouldShareOneQuotaAmongSixteenProcesses() throws Exception {
        Process job = machine.startSluice("run", "--sim", "--memory", "1g", "--",
                Machine.program("hog"), "--children", "16", "--step", "16m", "--hold", "600000");
        assertThat(Machine.pieces(job, 16)).isEqualTo(64);
    }

    @Test
    void shouldShareAmongTheCommandsOfOneShellWithTheLibraryAlone() throws Exception {
        String hog = Machine.program("hog") + " --step 16m --hold 600000";
        Process shell = machine.startPreloaded(Map.of("SLUICE_MEMORY", "1g"), "sh", "-c", hog + " & " + hog + " & wait");
        assertThat(Machine.pieces(shell, 2)).isEqualTo(64);
    }

    @Test
    void shouldKeepTwoCommandsWithEqualLimitsApart() throws Exception {
        Process first = machine.startPreloaded(Map.of("SLUICE_MEMORY", "1g"), Machine.program("hog"), "--hold", "600000");
        Process second = machine.startPreloaded(Map.of("SLUICE_MEMORY", "1g"), Machine.program("hog"), "--hold", "600000");
        assertThat(Machine.awaitLine(first, "got ")).startsWith("got 16 " + (1L << 30));
        assertThat(Machine.awaitLine(second, "got ")).startsWith("got 16 " + (1L << 30));
    }

    @Test
    void shouldSayOneLineAboutAnUnknownTenant() throws Exception {
        assertMistake(1, "nobody", machine.sluice("inspect", "nobody"));
    }
}
