package sluice.agent.alnair;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayOutputStream;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import sluice.agent.RunningAgent;
import sluice.agent.machine.EventLog;
import sluice.agent.os.RegisteringPeer;
import sluice.region.place.Identity;
import sluice.region.place.SluiceException;

/// What Alnair's library sends and reads, byte for byte, and what others find in the workspace.
@Timeout(60)
class AlnairTest {
    private static final String CONTAINER = "0123456789abcdef".repeat(4);
    private static final String OTHER = "fedcba9876543210".repeat(4);

    @TempDir
    private Path folder;

    private Path workspace(String id) throws Exception {
        return Files.createDirectories(folder.resolve("workspaces").resolve(id));
    }

    /// Sends, and reads until the other end has hung up.
    private byte[] exchange(Path socket, String request) throws Exception {
        try (SocketChannel channel = SocketChannel.open(UnixDomainSocketAddress.of(socket))) {
            channel.write(ByteBuffer.wrap(request.getBytes(StandardCharsets.US_ASCII)));
            ByteArrayOutputStream answer = new ByteArrayOutputStream();
            ByteBuffer some = ByteBuffer.allocate(64);
            while (channel.read(some.clear()) >= 0) {
                answer.write(some.array(), 0, some.position());
            }
            return answer.toByteArray();
        }
    }

    @Test
    void shouldAnswerAsTheServerDid() throws Exception {
        Path workspace = workspace("x7Kq2");
        Path socket = folder.resolve("alnair/alnair.sock");
        try (RunningAgent agent = new RunningAgent(folder, List.of(new AlnairPart()), "alnair-socket = " + socket,
                "alnair-workspaces = " + folder.resolve("workspaces"))) {
            assertThat(exchange(socket, "/kubepods/burstable/pod1 x7Kq2\n")).isEqualTo(new byte[] {'o', 'k'});
            assertThat(workspace.resolve("cgroup.procs")).hasBinaryContent((ProcessHandle.current().pid() + "\n").getBytes(StandardCharsets.US_ASCII));
            assertThat(workspace.resolve("containerID")).as("this process is in no container").doesNotExist();

            Files.writeString(workspace.resolve("cgroup.procs"), "older");
            assertThat(exchange(socket, " x7Kq2\n")).as("without a line for memory, as with cgroups of version 2").isEqualTo(new byte[] {'o', 'k'});
            assertThat(workspace.resolve("cgroup.procs")).hasContent(ProcessHandle.current().pid() + "");
            assertThat(Files.getPosixFilePermissions(socket)).isEqualTo(PosixFilePermissions.fromString("rw-rw-rw-"));
            assertThat(agent.client().get("/v1/machine").text()).contains("registers this ALNAIR_ID for user-");
        }
        assertThat(socket).doesNotExist();
    }

    @Test
    void shouldNotListenUnlessAsked() throws Exception {
        try (RunningAgent agent = new RunningAgent(folder, List.of(new AlnairPart()))) {
            assertThat(agent.client().get("/healthz").status()).isEqualTo(200);
            try (var files = Files.walk(folder)) {
                assertThat(files.filter(file -> file.toString().endsWith(".sock"))).containsExactly(agent.socket());
            }
        }
    }

    private AlnairWorkspaces workspaces() throws Exception {
        return new AlnairWorkspaces(folder.resolve("workspaces"), AlnairOwners.in(Files.createDirectories(folder.resolve("state"))), new EventLog());
    }

    private static RegisteringPeer in(String container, Process process) {
        return new RegisteringPeer(0, Identity.of(process.pid()).orElseThrow(), "/system.slice/docker-" + container + ".scope", Optional.of(container));
    }

    @Test
    void shouldWriteTheFilesOfAContainer() throws Exception {
        Path workspace = workspace("x7Kq2");
        AlnairWorkspaces workspaces = workspaces();
        Process first = new ProcessBuilder("sleep", "60").start();
        Process second = new ProcessBuilder("sleep", "60").start();
        try {
            workspaces.register(in(CONTAINER, first), "/system.slice/docker-" + CONTAINER + ".scope", "x7Kq2");
            workspaces.register(in(CONTAINER, second), "/", "x7Kq2");

            assertThat(workspace.resolve("containerID")).hasBinaryContent(CONTAINER.getBytes(StandardCharsets.US_ASCII));
            List<Long> pids = List.of(Math.min(first.pid(), second.pid()), Math.max(first.pid(), second.pid()));
            assertThat(workspace.resolve("cgroup.procs")).hasBinaryContent((pids.get(0) + "\n" + pids.get(1) + "\n").getBytes(StandardCharsets.US_ASCII));
            assertThat(Files.getPosixFilePermissions(workspace.resolve("containerID"))).isEqualTo(PosixFilePermissions.fromString("rw-r--r--"));

            first.destroyForcibly().waitFor();
            workspaces.register(in(CONTAINER, second), "/", "x7Kq2");
            assertThat(workspace.resolve("cgroup.procs")).hasContent(second.pid() + "");
        } finally {
            first.destroyForcibly();
            second.destroyForcibly();
        }
    }

    @Test
    void shouldBelieveTheKernelAndNotTheClient() throws Exception {
        workspace("x7Kq2");
        AlnairWorkspaces workspaces = workspaces();
        Process process = new ProcessBuilder("sleep", "60").start();
        try {
            assertThatThrownBy(() -> workspaces.register(in(CONTAINER, process), "/docker/" + OTHER, "x7Kq2"))
                    .isInstanceOf(SluiceException.class).hasMessage("the process is not in the container that it names");
        } finally {
            process.destroyForcibly();
        }
    }

    @Test
    void shouldKeepAnIdForItsFirstContainerAlsoAfterARestart() throws Exception {
        Path workspace = workspace("x7Kq2");
        String user = "user-0";
        Process process = new ProcessBuilder("sleep", "60").start();
        try {
            RegisteringPeer bare = new RegisteringPeer(0, Identity.of(process.pid()).orElseThrow(), "/", Optional.empty());
            AlnairWorkspaces workspaces = workspaces();
            workspaces.register(bare, "/", "x7Kq2");
            assertThatThrownBy(() -> workspaces.register(in(OTHER, process), "/", "x7Kq2")).hasMessage("this ALNAIR_ID belongs to another user");
            assertThat(workspace.resolve("containerID")).doesNotExist();
            assertThat(AlnairOwners.in(folder.resolve("state")).of("x7Kq2")).contains(user);
        } finally {
            process.destroyForcibly().waitFor();
        }
        Process next = new ProcessBuilder("sleep", "60").start();
        try {
            workspaces().register(in(OTHER, next), "/", "x7Kq2");
            assertThat(workspace.resolve("containerID")).as("the first has ended").hasContent(OTHER);
        } finally {
            next.destroyForcibly();
        }
    }

    private static RegisteringPeer of(long uid, Process process) {
        return new RegisteringPeer(uid, Identity.of(process.pid()).orElseThrow(), "/", Optional.empty());
    }

    @Test
    void shouldLetNoUserRegisterInTheWorkspaceOfAnother() throws Exception {
        Path workspace = workspace("x7Kq2");
        long owner = ((Integer) Files.getAttribute(workspace, "unix:uid")).longValue();
        AlnairWorkspaces workspaces = workspaces();
        Process process = new ProcessBuilder("sleep", "60").start();
        try {
            assertThatThrownBy(() -> workspaces.register(of(owner + 1, process), "/", "x7Kq2"))
                    .hasMessage("the workspace of this ALNAIR_ID is not of user " + (owner + 1));
            assertThat(workspace).isEmptyDirectory();
            workspaces.register(of(owner, process), "/", "x7Kq2");
            assertThat(workspace.resolve("cgroup.procs")).hasContent(process.pid() + "");
        } finally {
            process.destroyForcibly();
        }
    }

    @Test
    void shouldNotWriteWhereOthersCan() throws Exception {
        Path workspace = workspace("x7Kq2");
        AlnairWorkspaces workspaces = workspaces();
        Process process = new ProcessBuilder("sleep", "60").start();
        try {
            for (String rights : List.of("rwxrwxr-x", "rwxr-xrwx")) {
                Files.setPosixFilePermissions(folder.resolve("workspaces"), PosixFilePermissions.fromString(rights));
                assertThatThrownBy(() -> workspaces.register(of(0, process), "/", "x7Kq2")).as(rights)
                        .hasMessage("other users can write to the folder of the workspaces; chmod it to 755");
            }
            assertThat(workspace).isEmptyDirectory();
        } finally {
            process.destroyForcibly();
        }
    }

    @Test
    void shouldBoundTheOwnersButForgetThoseWithoutAWorkspace() throws Exception {
        Path state = Files.createDirectories(folder.resolve("state"));
        Files.write(state.resolve("alnair-owners"), IntStream.range(0, 4096).mapToObj(id -> "id" + id + " user-1").toList());

        AlnairOwners owners = AlnairOwners.in(state);
        assertThatThrownBy(() -> owners.put("x7Kq2", "user-2", id -> true)).hasMessageContaining("there are 4096 workspaces already");
        assertThat(owners.of("x7Kq2")).isEmpty();
        owners.put("x7Kq2", "user-2", id -> !id.equals("id17"));

        assertThat(AlnairOwners.in(state).of("x7Kq2")).contains("user-2");
        assertThat(AlnairOwners.in(state).of("id17")).isEmpty();
        assertThat(AlnairOwners.in(state).of("id18")).contains("user-1");
    }
}
