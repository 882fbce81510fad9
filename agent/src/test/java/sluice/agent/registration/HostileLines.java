package sluice.agent.registration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import sluice.agent.RunningAgent;
import sluice.agent.part.Part;
import sluice.region.place.ThisProcess;

/// Clients that mean harm come to a socket that answers lines; an honest one is served in the end.
@Timeout(120)
public abstract class HostileLines {
    private static final long PATIENCE_NANOS = 10_000_000_000L;

    @TempDir
    private Path folder;

    private RunningAgent agent;

    protected abstract Part part();

    /// Makes what the part needs, and gives the lines of the config file for it.
    protected abstract String[] config(Path folder, Path socket) throws IOException;

    protected abstract String honest();

    protected abstract boolean isServed(String answer);

    protected Path folder() {
        return folder;
    }

    @BeforeEach
    void start() throws Exception {
        agent = new RunningAgent(folder, List.of(part()), config(folder, folder.resolve("register.sock")));
    }

    @AfterEach
    void stop() throws Exception {
        long deadline = System.nanoTime() + PATIENCE_NANOS;
        String answer = send(honest());
        while (!isServed(answer) && System.nanoTime() < deadline) {
            Thread.sleep(50);
            answer = send(honest());
        }
        assertThat(isServed(answer)).as("an honest client: " + answer).isTrue();
        assertThat(agent.client().get("/healthz").status()).isEqualTo(200);
        agent.close();
    }

    private SocketChannel connect() throws IOException {
        return SocketChannel.open(UnixDomainSocketAddress.of(folder.resolve("register.sock")));
    }

    protected String send(String line) {
        return send(line.getBytes(StandardCharsets.ISO_8859_1));
    }

    /// What comes back until the agent hangs up; descriptors are dropped by the kernel.
    private String send(byte[] bytes) {
        StringBuilder answer = new StringBuilder();
        try (SocketChannel channel = connect()) {
            ByteBuffer out = ByteBuffer.wrap(bytes);
            while (out.hasRemaining()) {
                channel.write(out);
            }
            ByteBuffer in = ByteBuffer.allocate(256);
            while (channel.read(in.clear()) >= 0) {
                answer.append(StandardCharsets.ISO_8859_1.decode(in.flip()));
            }
        } catch (IOException e) {
            // It hung up already.
        }
        return answer.toString();
    }

    /// Noise without the end of a line is kept waiting; the next need not wait for that.
    @Test
    void shouldSurviveNoise() throws Exception {
        Random random = new Random(6);
        Queue<String> answers = new ConcurrentLinkedQueue<>();
        List<Thread> clients = new ArrayList<>();
        for (int round = 0; round < 200; round++) {
            byte[] noise = new byte[random.nextInt(4096)];
            random.nextBytes(noise);
            clients.add(Thread.ofPlatform().start(() -> answers.add(send(noise))));
            clients.getLast().join(Duration.ofMillis(20));
        }
        for (Thread client : clients) {
            client.join();
        }
        assertThat(answers).hasSize(200).noneMatch(answer -> answer.startsWith("ok"));
    }

    @Test
    void shouldNotKeepWhatIsTooLong() {
        assertThat(send(new byte[32 << 20])).isEmpty();
    }

    @Test
    void shouldHangUpOnSlowClients() throws Exception {
        List<SocketChannel> slow = new ArrayList<>();
        for (int count = 0; count < 300; count++) {
            slow.add(connect());
        }
        SocketChannel first = slow.getFirst();
        long began = System.nanoTime();
        try {
            while (System.nanoTime() - began < PATIENCE_NANOS) {
                first.write(ByteBuffer.wrap(new byte[] {'r'}));
                Thread.sleep(100);
            }
        } catch (IOException e) {
            // As it should be.
        }
        assertThat(System.nanoTime() - began).isLessThan(PATIENCE_NANOS);
        for (SocketChannel channel : slow) {
            channel.close();
        }
    }

    /// How many of some connections the agent answered though they asked for nothing.
    private static int refused(List<SocketChannel> connections) throws Exception {
        int refused = 0;
        for (int look = 0; look < 100 && refused == 0; look++) {
            Thread.sleep(20);
            for (SocketChannel connection : connections) {
                connection.configureBlocking(false);
                refused += connection.read(ByteBuffer.allocate(256)) > 0 ? 1 : 0;
            }
        }
        return refused;
    }

    @Test
    void shouldAnswerOthersWhileOneHoldsAllItMay() throws Exception {
        assumeTrue(ThisProcess.current().uid() == 0 && Files.isExecutable(Path.of("/usr/bin/setpriv")) && Files.isExecutable(Path.of("/usr/bin/python3")),
                "root, setpriv and python3 are needed");
        Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwxr-xr-x"));
        String script = "import socket,sys\ns=socket.socket(socket.AF_UNIX);s.connect(sys.argv[1]);s.settimeout(1);s.sendall(sys.argv[2].encode())\nprint(s.recv(99))\n";
        List<SocketChannel> held = new ArrayList<>();
        for (int count = 0; count < 600; count++) {
            held.add(connect());
        }
        assertThat(refused(held)).as("told to come again, beyond 512 of one user").isPositive();
        Process other = new ProcessBuilder("/usr/bin/setpriv", "--reuid=64001", "--clear-groups", "/usr/bin/python3", "-c", script,
                folder.resolve("register.sock").toString(), honest()).redirectErrorStream(true).start();
        assertThat(other.inputReader().readLine()).as("in a second, of another user").startsWith("b'").isNotEqualTo("b''");
        for (SocketChannel channel : held) {
            channel.close();
        }
    }

    /// Who asks all the time is answered 100 times a second, after the first 500.
    @Test
    void shouldBoundAFlood() throws Exception {
        long began = System.nanoTime();
        int refused = 0;
        for (int count = 0; count < 800; count++) {
            refused += isServed(send(honest())) ? 0 : 1;
        }
        assertThat(refused).isZero();
        assertThat(System.nanoTime() - began).isGreaterThan(2_000_000_000L);
    }

    @Test
    void shouldTakeNoDescriptors() throws Exception {
        assumeTrue(Files.isExecutable(Path.of("/usr/bin/python3")), "python3 is needed");
        int before = Path.of("/proc/self/fd").toFile().list().length;
        String script = "import socket,sys\nfor i in range(40):\n s=socket.socket(socket.AF_UNIX);s.connect(sys.argv[1])\n"
                + " socket.send_fds(s,[b'some text '],[0,1,2]*8)\n s.close()\n";
        assertThat(new ProcessBuilder("/usr/bin/python3", "-c", script, folder.resolve("register.sock").toString()).inheritIO().start().waitFor()).isZero();
        Thread.sleep(500);
        assertThat(Path.of("/proc/self/fd").toFile().list().length).isLessThan(before + 20);
    }
}
