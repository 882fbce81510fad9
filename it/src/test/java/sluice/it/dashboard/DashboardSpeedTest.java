package sluice.it.dashboard;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import sluice.api.json.JsonTree;
import sluice.it.machine.Again;
import sluice.it.machine.Machine;
import sluice.it.machine.Timed;

/// How long the agent's page takes to update.
@Timed
@Timeout(300)
class DashboardSpeedTest extends DashboardPage {
    private static final int TENANTS = 64;
    private static final int PROCESSES = 4;
    private static final int UPDATES = 10;
    private static final long MOST_MILLIS = 50;

    @Test
    void shouldUpdateFastWithManyTenants() throws Exception {
        for (int i = 0; i < TENANTS; i++) {
            machine.startPreloaded(Map.of("SLUICE_TENANT", "tenant" + i, "SLUICE_MEMORY", "64m", "SLUICE_WEIGHT", "1"),
                    Machine.program("hog"), "--children", Integer.toString(PROCESSES), "--step", "2m", "--count", "1", "--hold", "600000");
        }
        open(TENANTS);
        assertThat(Again.until(slowest -> slowest < MOST_MILLIS, this::slowestUpdate)).as("milliseconds of the slowest of " + UPDATES + " updates").isLessThan(MOST_MILLIS);
    }

    private long slowestUpdate() throws Exception {
        browser.script("performance.clearMeasures('update')");
        browser.await("performance.getEntriesByName('update').length >= " + UPDATES);
        JsonTree millis = browser.script("return performance.getEntriesByName('update').map(update => Math.round(update.duration))");
        System.out.println("Updates of the page with " + TENANTS + " tenants, in milliseconds: " + millis.value());
        return millis.elements().stream().mapToLong(JsonTree::number).max().orElseThrow();
    }
}
