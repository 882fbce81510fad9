package sluice.it.compatibility;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import sluice.it.machine.Machine;
import sluice.it.machine.OnMachine;

/// A job that was made for Alnair: a client that registers as its library did, the limits of its workspace, the files that its exporter reads.
@Timeout(120)
class AlnairServerTest extends OnMachine {
    private static final long GIB = 1L << 30;
    /// Registers, says what was answered, and becomes the program, so that it is the process that registered.
    private static final String CLIENT = """
            import os, socket, sys
            with socket.socket(socket.AF_UNIX) as server:
                server.connect(os.environ["ALNAIR_SOCKET"])
                server.sendall(("/ " + os.environ["ALNAIR_ID"] + "\\n").encode())
                print("answer", server.recv(1024), "then", server.recv(1024), "pid", os.getpid(), flush=True)
            os.execv(sys.argv[1], sys.argv[1:])
            """;

    private Path workspace;

    @BeforeEach
    void start() throws Exception {
        assumeTrue(Files.isExecutable(Path.of("/usr/bin/python3")), "python3 is needed");
        workspace = Files.createDirectories(directory.resolve("workspaces/x7Kq2"));
        Files.writeString(workspace.resolve("limits"), "vmem:" + GIB);
    }

    @Test
    void shouldServeAJobOfAlnair() throws Exception {
        Path socket = directory.resolve("alnair/alnair.sock");
        Process agent = machine.startAgent("alnair-socket = " + socket, "alnair-workspaces = " + directory.resolve("workspaces"));
        var job = machine.preloaded(Map.of("ALNAIR_ID", "x7Kq2", "ALNAIR_SOCKET", socket.toString(), "ALNAIR_WORKSPACE_PATH", workspace.toString()),
                "/usr/bin/python3", "-c", CLIENT, Machine.program("hog"), "--step", "64m", "--hold", "300");

        assertThat(job.output()).startsWith("answer b'ok' then b'' pid ").contains("got 16 " + GIB + " 2");
        String pid = job.output().lines().findFirst().orElseThrow().replaceFirst(".* pid ", "");
        assertThat(workspace.resolve("cgroup.procs")).hasContent(pid);
        assertThat(Files.readAllLines(workspace.resolve("metrics.log"))).hasSize(4).first().isEqualTo("pid:" + pid);
    }

    /// As above, but the library registers, as Alnair's did.
    @Test
    void shouldRegisterItsContainerUnderAlnairsName() throws Exception {
        Path socket = directory.resolve("alnair/alnair.sock");
        Process agent = machine.startAgent("alnair-socket = " + socket, "alnair-workspaces = " + directory.resolve("workspaces"));
        var job = machine.preloaded(Map.of("ALNAIR_ID", "x7Kq2", "ALNAIR_SOCKET", socket.toString(), "ALNAIR_WORKSPACE_PATH", workspace.toString(),
                "LD_PRELOAD", Machine.link("libcuinterpose.so")), Machine.program("hog"), "--step", "64m", "--hold", "300");

        assertThat(job.errors()).isEmpty();
        assertThat(job.output()).startsWith("total ").contains("got 16 " + GIB + " 2");
        String pid = Files.readAllLines(workspace.resolve("metrics.log")).getFirst().replace("pid:", "");
        assertThat(workspace.resolve("cgroup.procs")).hasContent(pid);
    }
}
