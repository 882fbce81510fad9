package sluice.cli;

import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

/// Answers in the place of an agent that has nothing to tell.
record TrainingAgent(Path socket, ServerSocketChannel server) implements AutoCloseable {
    private static final int MOST_REQUEST_BYTES = 4096;
    private static final String ANSWER = """
            HTTP/1.1 200 OK\r
            \r
            {"tenants": [], "audited": true, "findings": [], "gpus": []}
            """;

    static TrainingAgent in(Path directory) throws IOException {
        Path socket = directory.resolve("agent.sock");
        ServerSocketChannel server = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
        server.bind(UnixDomainSocketAddress.of(socket));
        return new TrainingAgent(socket, server);
    }

    void start() {
        Thread.ofPlatform().daemon().start(this::serve);
    }

    private void serve() {
        while (server.isOpen()) {
            try (SocketChannel client = server.accept()) {
                client.read(ByteBuffer.allocate(MOST_REQUEST_BYTES));
                client.write(ByteBuffer.wrap(ANSWER.getBytes(StandardCharsets.US_ASCII)));
            } catch (IOException e) {
                // Closed: the training is over.
            }
        }
    }

    @Override
    public void close() throws IOException {
        server.close();
        Files.delete(socket);
    }
}
