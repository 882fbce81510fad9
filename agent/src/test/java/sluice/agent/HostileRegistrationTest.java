package sluice.agent;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import sluice.region.RegionLayout;

/// Clients that mean harm come to the socket for registration; an honest one is served in the end.
@Timeout(120)
class HostileRegistrationTest {
    private static final String REQUEST = "region " + RegionLayout.LAYOUT + " -\n";
    private static final long PATIENCE_NANOS = 10_000_000_000L;

    @TempDir
    private Path folder;

    private RunningAgent agent;

    @BeforeEach
    void start() throws Exception {
        Path policy = Files.writeString(folder.resolve("policy"), "* -> memory=1g\n");
        agent = new RunningAgent(folder, List.of(new RegistrationPart()), "policy = " + policy, "register-socket = " + folder.resolve("register.sock"));
    }

    @AfterEach
    void stop() throws Exception {
        long deadline = System.nanoTime() + PATIENCE_NANOS;
        String answer = send(REQUEST.getBytes(StandardCharsets.US_ASCII));
        while (!answer.startsWith("ok ") && System.nanoTime() < deadline) {
            Thread.sleep(50);
            answer = send(REQUEST.getBytes(StandardCharsets.US_ASCII));
        }
        assertThat(answer).as("an honest client").startsWith("ok ");
        assertThat(agent.client().get("/healthz").status()).isEqualTo(200);
        agent.close();
    }

    private SocketChannel connect() throws IOException {
        return SocketChannel.open(UnixDomainSocketAddress.of(folder.resolve("register.sock")));
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
        return answer.toString().replace("\0", "");
    }

    @Test
    void shouldRefuseWhatIsNoRequest() {
        for (String line : List.of("\n", " \n", "region\n", "region 4\n", "region four -\n", "region 4 - -\n", "region 4 $(id)\n", "region 99999999999999999999 -\n",
                "board\n", "board " + "0".repeat(31) + "\n", "board " + "../".repeat(10) + "aa\n", "GET / HTTP/1.1\r\n\r\n", "region 4 \0\n", "/docker/abc x\n")) {
            assertThat(send(line.getBytes(StandardCharsets.US_ASCII))).as(line).doesNotStartWith("ok");
        }
        assertThat(send(("board " + "0".repeat(32) + "\n").getBytes(StandardCharsets.US_ASCII))).contains("no pid").contains("has no region");
        assertThat(folder.resolve("run").toFile().list()).noneMatch(name -> name.endsWith(".region"));
    }

    @Test
    void shouldSurviveNoise() {
        Random random = new Random(6);
        for (int round = 0; round < 200; round++) {
            byte[] noise = new byte[random.nextInt(4096)];
            random.nextBytes(noise);
            assertThat(send(noise)).doesNotStartWith("ok");
        }
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

    @Test
    void shouldBoundAFlood() throws Exception {
        int refused = 0;
        for (int count = 0; count < 2000; count++) {
            refused += send(REQUEST.getBytes(StandardCharsets.US_ASCII)).startsWith("ok") ? 0 : 1;
        }
        assertThat(refused).isPositive();
        try (var files = Files.list(folder.resolve("run"))) {
            assertThat(files.filter(file -> file.toString().endsWith(".region"))).as("one process is one tenant").hasSize(1);
        }
    }

    @Test
    void shouldTakeNoDescriptors() throws Exception {
        assumeTrue(Files.isExecutable(Path.of("/usr/bin/python3")), "python3 is needed");
        int before = Path.of("/proc/self/fd").toFile().list().length;
        String script = "import socket,sys\nfor i in range(40):\n s=socket.socket(socket.AF_UNIX);s.connect(sys.argv[1])\n"
                + " socket.send_fds(s,[b'region 4 '],[0,1,2]*8)\n s.close()\n";
        assertThat(new ProcessBuilder("/usr/bin/python3", "-c", script, folder.resolve("register.sock").toString()).inheritIO().start().waitFor()).isZero();
        Thread.sleep(500);
        assertThat(Path.of("/proc/self/fd").toFile().list().length).isLessThan(before + 20);
    }
}
