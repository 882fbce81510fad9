package sluice.agent.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.netty.channel.Channel;
import io.netty.channel.ChannelInitializer;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import sluice.region.place.SluiceException;

/// The socket of an agent stays its own as long as it runs.
@Timeout(30)
class ApiServerTest {
    private static final String MODE = "rw-------";

    @TempDir
    private Path folder;

    private Path socket;

    @BeforeEach
    void place() {
        socket = folder.resolve("agent.sock");
    }

    private static ApiServer server() {
        return new ApiServer("test", new ChannelInitializer<Channel>() {
            @Override
            protected void initChannel(Channel channel) {}
        });
    }

    private boolean isAnswered() {
        try (SocketChannel channel = SocketChannel.open(StandardProtocolFamily.UNIX)) {
            return channel.connect(UnixDomainSocketAddress.of(socket));
        } catch (IOException e) {
            return false;
        }
    }

    @Test
    void shouldLeaveAnotherAgentItsSocket() {
        try (ApiServer first = server()) {
            first.listen(socket, MODE);
            try (ApiServer second = server()) {
                assertThatThrownBy(() -> second.listen(socket, MODE)).isInstanceOf(SluiceException.class).hasMessageContaining("another agent listens on " + socket);
            }
            assertThat(isAnswered()).isTrue();
        }
        assertThat(socket).doesNotExist();
    }

    @Test
    void shouldReplaceTheSocketOfADeadAgent() throws IOException {
        try (ServerSocketChannel dead = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
            dead.bind(UnixDomainSocketAddress.of(socket));
        }
        assertThat(socket).exists();
        try (ApiServer server = server()) {
            server.listen(socket, MODE);
            assertThat(isAnswered()).isTrue();
        }
    }

    @Test
    void shouldDeleteNoSocketOfAnother() throws IOException {
        try (ServerSocketChannel other = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
            try (ApiServer server = server()) {
                server.listen(socket, MODE);
                Files.delete(socket);
                other.bind(UnixDomainSocketAddress.of(socket));
            }
            assertThat(isAnswered()).isTrue();
        }
    }
}
