package sluice.agent.machine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import sluice.agent.http.Caller;
import sluice.agent.http.Refusal;
import sluice.agent.http.Request;
import sluice.agent.http.Route;
import sluice.region.Region;
import sluice.region.RegionDraft;
import sluice.region.Tenant;
import sluice.region.limits.MemoryLimits;
import sluice.region.limits.OnError;
import sluice.region.place.Identity;
import sluice.region.place.Processes;
import sluice.region.place.RuntimeDirectory;
import sluice.region.place.ThisProcess;

/// Who may change the limits of a tenant that the agent registered by its policy.
class MachineRoutesTest {
    private final long user = Integer.toUnsignedLong(ThisProcess.current().uid());

    @TempDir
    private Path folder;

    private Path region;
    private Machine machine;

    @BeforeEach
    void register() throws Exception {
        Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwx------"));
        var directory = new RuntimeDirectory(folder);
        region = Region.createSplit(directory, new RegionDraft("job", "", Identity.self(), OnError.FAIL, MemoryLimits.parse("1g")), user);
        machine = new Machine(() -> List.of(directory), new Gpus(Optional.empty()), Processes.BY_PROC, new EventLog());
    }

    private void setMemory(String size, Caller.Rights rights) throws Exception {
        Route route = new MachineRoutes(machine, new Gpus(Optional.empty())).routes().stream().filter(Route::writes).findFirst().orElseThrow();
        route.handler().handle(new Request("PATCH", "/v1/tenants/job/limits", Map.of("name", "job"), Map.of(), Map.of(),
                ("{\"memory\": \"" + size + "\"}").getBytes(StandardCharsets.UTF_8), new Caller(user, 1, rights)));
    }

    /// After a restart the agent no longer knows what the job could have asked for.
    @Test
    void shouldLetOnlyAnAdministratorChangeWhatThePolicyGave() throws Exception {
        assertThatThrownBy(() -> setMemory("6g", Caller.Rights.OWN)).isInstanceOf(Refusal.class).hasMessageContaining("administrator");
        assertThat(Tenant.read(region).memory().bytes(0)).isEqualTo(1L << 30);

        setMemory("6g", Caller.Rights.ALL);
        assertThat(Tenant.read(region).memory().bytes(0)).isEqualTo(6L << 30);
    }
}
