package sluice.agent;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import sluice.fault.Fault;
import sluice.region.Region;
import sluice.region.RegionDraft;
import sluice.region.Tenant;
import sluice.region.limits.MemoryLimits;
import sluice.region.limits.OnError;
import sluice.region.place.Identity;
import sluice.region.place.RuntimeDirectory;
import sluice.region.place.ThisProcess;

/// An agent of root for all users, asked by processes of several of them.
@Timeout(60)
@Fault(kind = Fault.Kind.HOSTILE_USERS, of = "the agent of all users")
class AllUsersTest {
    private static final int ALICE = 64001;
    private static final int BOB = 64002;

    @TempDir
    private Path folder;

    private RunningAgent agent;
    private Path ofAlice;

    @BeforeEach
    void start() throws Exception {
        assumeTrue(ThisProcess.current().uid() == 0, "only root can serve all users");
        assumeTrue(Files.isExecutable(Path.of("/usr/bin/setpriv")) && Files.isExecutable(Path.of("/usr/bin/curl")), "setpriv and curl are needed");
        Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwxr-xr-x"));
        ofAlice = tenant(ALICE, "train");
        tenant(BOB, "serve");
        agent = new RunningAgent(folder, "all-users = yes", "look-in = " + folder, "socket = " + folder.resolve("agent.sock"));
        agent.tenant("own");
    }

    @AfterEach
    void stop() {
        if (agent != null) {
            agent.close();
        }
    }

    private Path tenant(int uid, String name) throws Exception {
        Path runtime = Files.createDirectories(folder.resolve("sluice-" + uid));
        Files.setPosixFilePermissions(runtime, PosixFilePermissions.fromString("rwx------"));
        Path file = Region.create(new RuntimeDirectory(runtime), new RegionDraft(name, "", Identity.self(), OnError.FAIL, MemoryLimits.parse("4g")));
        try (Region region = Region.openReadWrite(file)) {
            region.header().uid(uid);
        }
        Files.setAttribute(file, "unix:uid", uid);
        Files.setAttribute(runtime, "unix:uid", uid);
        return file;
    }

    /// What the agent answers to a process of a user.
    private String ask(int uid, String... arguments) throws Exception {
        List<String> command = new ArrayList<>(List.of("setpriv", "--reuid=" + uid, "--clear-groups", "curl", "-s", "--unix-socket",
                folder.resolve("agent.sock").toString()));
        command.addAll(List.of(arguments));
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        return new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    }

    private String patch(int uid, String tenant) throws Exception {
        return ask(uid, "-X", "PATCH", "-d", "{\"memory\": \"1g\"}", "http://agent/v1/tenants/" + tenant + "/limits");
    }

    @Test
    void shouldShowEachUserTheirOwn() throws Exception {
        assertThat(ask(ALICE, "http://agent/v1/machine")).contains("\"tenant\":\"train\"").doesNotContain("serve").doesNotContain("\"own\"");
        assertThat(ask(BOB, "http://agent/v1/tenants")).contains("\"tenant\":\"serve\"").doesNotContain("train");
        assertThat(ask(0, "http://agent/v1/tenants")).contains("train", "serve", "own");
    }

    @Test
    void shouldLetEachUserChangeTheirOwn() throws Exception {
        assertThat(patch(BOB, "train")).contains("there is no tenant 'train'");
        assertThat(Tenant.read(ofAlice).limitsEpoch()).isZero();
        assertThat(patch(ALICE, "train")).contains("\"memoryLimitBytes\":[1073741824");
        assertThat(patch(0, "serve")).contains("\"memoryLimitBytes\":[1073741824");
    }

    @Test
    void shouldNotBeLedToAnotherUsersRegion() throws Exception {
        Files.createSymbolicLink(folder.resolve("sluice-" + BOB).resolve("mine.region"), ofAlice);
        Files.createLink(folder.resolve("sluice-" + BOB).resolve("also.region"), ofAlice);

        assertThat(ask(BOB, "http://agent/v1/tenants")).contains("serve").doesNotContain("train");
        assertThat(patch(BOB, "train")).contains("there is no tenant");
    }

    @Test
    void shouldSurviveWhatUsersLeaveInTheirFolders() throws Exception {
        Path ofBob = folder.resolve("sluice-" + BOB);
        new ProcessBuilder("mkfifo", ofBob.resolve("pipe.region").toString()).start().waitFor();
        Files.createDirectory(ofBob.resolve("folder.region"));
        Files.createSymbolicLink(ofBob.resolve("board-" + "0".repeat(32)), Path.of("/dev/zero"));
        Files.write(ofBob.resolve("serve.region"), new byte[10]);

        assertThat(ask(ALICE, "http://agent/v1/tenants")).contains("train");
    }
}
