package sluice.agent.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import sluice.api.client.RunRegistration;
import sluice.region.limits.GivenLimits;
import sluice.region.limits.Limit;
import sluice.region.limits.LimitSource;
import sluice.region.limits.OnError;
import sluice.region.place.SluiceException;
import sluice.region.place.ThisProcess;

/// How `sluice run` finds the machine's agent, and what it makes of its answers.
@Timeout(60)
class RunRegistrationTest {
    @TempDir
    private Path folder;

    private Path socket() {
        return folder.resolve("s");
    }

    private RunRegistration.Granted ask(String... answers) throws Exception {
        try (ServerSocketChannel server = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
            server.bind(UnixDomainSocketAddress.of(socket()));
            Thread.ofPlatform().daemon().start(() -> {
                for (String answer : answers) {
                    try (SocketChannel client = server.accept()) {
                        client.read(ByteBuffer.allocate(4096));
                        client.write(ByteBuffer.wrap(answer.getBytes(StandardCharsets.US_ASCII)));
                    } catch (IOException e) {
                        return;
                    }
                }
            });
            return RunRegistration.at(socket()).register(null, "train", "python train.py", GivenLimits.of(LimitSource.COMMAND_LINE, Map.of(Limit.MEMORY, "4g")));
        }
    }

    @Test
    void shouldComeAgainUntilThereIsAnAnswer() throws Exception {
        var granted = ask("busy 10\n", "", "ok tr", "busy 20\n", "ok train limited=yes on-error=run memory is less\n");
        assertThat(granted).isEqualTo(new RunRegistration.Granted("train", true, OnError.RUN, "memory is less"));
    }

    @Test
    void shouldSayWhyTheAgentRefuses() {
        assertThatThrownBy(() -> ask("no the policy has none\n")).isInstanceOf(SluiceException.class).hasMessageContaining("the policy has none");
    }

    @Test
    void shouldGiveUpWhenNoAgentListens() {
        long began = System.nanoTime();
        assertThatThrownBy(() -> RunRegistration.at(socket()).register(null, "a", "x", GivenLimits.none(LimitSource.COMMAND_LINE))).isInstanceOf(RunRegistration.Unanswered.class);
        assertThat(System.nanoTime() - began).isLessThan(5_000_000_000L);
    }

    @Test
    void shouldTakeTheWordOfTheMachineFromItsOwnerOnly() throws Exception {
        assumeTrue(ThisProcess.current().uid() == 0, "root is needed");
        assertThat(RunRegistration.ofMachine(socket())).isEmpty();
        Path word = Files.writeString(folder.resolve("on-error"), "fail\n");
        Files.setPosixFilePermissions(word, PosixFilePermissions.fromString("rw-r--r--"));
        assertThat(RunRegistration.ofMachine(socket()).orElseThrow().mustFail()).isTrue();

        Files.setPosixFilePermissions(word, PosixFilePermissions.fromString("rw-rw-rw-"));
        assertThat(RunRegistration.ofMachine(socket())).as("anybody can write it").isEmpty();
        Files.setPosixFilePermissions(word, PosixFilePermissions.fromString("rw-r--r--"));
        Files.setAttribute(word, "unix:uid", 64001);
        assertThat(RunRegistration.ofMachine(socket())).as("another user's").isEmpty();
        Files.setAttribute(word, "unix:uid", 0);
        Files.move(word, folder.resolve("elsewhere"));
        Files.createSymbolicLink(word, folder.resolve("elsewhere"));
        assertThat(RunRegistration.ofMachine(socket())).as("a link").isEmpty();
        try (ServerSocketChannel server = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
            server.bind(UnixDomainSocketAddress.of(socket()));
            assertThat(RunRegistration.ofMachine(socket())).isPresent();
            Files.setAttribute(socket(), "unix:uid", 64001);
            assertThat(RunRegistration.ofMachine(socket())).as("a socket of another user").isEmpty();
        }
    }
}
