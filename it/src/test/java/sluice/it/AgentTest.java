package sluice.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import sluice.cuda.Driver;

/// The agent may die at any time: jobs do not notice, and the next one goes on where it was.
@Timeout(120)
class AgentTest {
    private static final int ENDLESS = 10_000_000;
    private static final Pattern USED = Pattern.compile("\"usedNanos\" ?: ?(\\d+)");

    @TempDir
    private Path directory;

    private Machine machine;
    private final List<Process> processes = new ArrayList<>();

    @BeforeEach
    void start() throws Exception {
        machine = new Machine(directory);
        try (var text = Driver.class.getResourceAsStream("kernels.ptx")) {
            Files.copy(text, directory.resolve("kernels.ptx"));
        }
        Files.writeString(directory.resolve("agent.conf"), "state-directory = " + directory.resolve("state") + "\n");
    }

    @AfterEach
    void end() throws Exception {
        for (Process process : processes.reversed()) {
            process.destroyForcibly().waitFor();
        }
    }

    private Process keep(Process process) {
        processes.add(process);
        return process;
    }

    private Process agent() throws Exception {
        Process agent = keep(machine.startSluice("agent", "--config", directory.resolve("agent.conf").toString()));
        assertThat(agent.inputReader().readLine()).startsWith("Planning");
        return agent;
    }

    private Process job(String name, String weight) throws Exception {
        return keep(machine.startSluice("run", "--sim", "--name", name, "--weight", weight, "--", Machine.program("windows"),
                directory.resolve("kernels.ptx").toString(), Integer.toString(ENDLESS), "500"));
    }

    private String ask(String path) throws Exception {
        try (SocketChannel channel = SocketChannel.open(StandardProtocolFamily.UNIX)) {
            channel.connect(UnixDomainSocketAddress.of(machine.runtimeDirectory().resolve("agent.sock")));
            channel.write(ByteBuffer.wrap(("GET " + path + " HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n").getBytes(StandardCharsets.US_ASCII)));
            return new String(Channels.newInputStream(channel).readAllBytes(), StandardCharsets.UTF_8);
        }
    }

    private long number(Pattern pattern, String path) throws Exception {
        String answer = ask(path);
        Matcher found = pattern.matcher(answer);
        assertThat(found.find()).as(answer).isTrue();
        return Long.parseLong(found.group(1));
    }

    private long used(String tenant) throws Exception {
        return number(USED, "/v1/tenants/" + tenant);
    }

    /// Waits until the agent tells that a tenant has used more than this.
    private long awaitMore(String tenant, long nanos) throws Exception {
        for (int look = 0; look < 200; look++) {
            if (ask("/v1/tenants/" + tenant).contains("usedNanos") && used(tenant) > nanos) {
                return used(tenant);
            }
            Thread.sleep(100);
        }
        throw new AssertionError(tenant + " does not go on");
    }

    @Test
    void shouldDisturbNobodyWhenItIsKilledAndGoOnAfterwards() throws Exception {
        Process agent = agent();
        Process three = job("three", "3");
        Process one = job("one", "1");
        long usedByThree = awaitMore("three", 50_000_000);
        long usedByOne = awaitMore("one", 50_000_000);
        for (int look = 0; look < 100 && !ask("/v1/history").contains("three"); look++) {
            Thread.sleep(100);
        }

        agent.destroyForcibly().waitFor();
        agent();

        assertThat(awaitMore("three", usedByThree)).isGreaterThan(usedByThree);
        assertThat(awaitMore("one", usedByOne)).isGreaterThan(usedByOne);
        assertThat(three.isAlive() && one.isAlive()).isTrue();
        assertThat(ask("/v1/history")).as("what was seen before").contains("three");
    }
}
