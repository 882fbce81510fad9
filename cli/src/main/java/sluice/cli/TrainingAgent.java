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
import java.util.List;
import sluice.api.json.AuditJson;
import sluice.api.json.JsonBytes;
import sluice.api.json.TenantJson;
import sluice.api.model.EarlierLook;
import sluice.api.model.OnBoards;
import sluice.region.Tenant;

/// Answers like an agent with one tenant and no findings.
record TrainingAgent(Path socket, ServerSocketChannel server, byte[] answer) implements AutoCloseable {
    private static final int MOST_REQUEST_BYTES = 4096;
    private static final String HEAD = "HTTP/1.1 200 OK\r\n\r\n";

    /// @param seen a tenant that the commands can read; the agent shows the same tenant under another name
    static TrainingAgent in(Path directory, Tenant seen) throws IOException {
        Path socket = directory.resolve("agent.sock");
        ServerSocketChannel server = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
        server.bind(UnixDomainSocketAddress.of(socket));
        byte[] body = JsonBytes.of(json -> {
            json.writeStartObject();
            json.writeArrayPropertyStart("tenants");
            TenantJson.write(json, seen, EarlierLook.NONE, OnBoards.NONE);
            json.writeEndArray();
            json.writeBooleanProperty("audited", true);
            AuditJson.findings(json, List.of());
            json.writeArrayPropertyStart("gpus");
            json.writeEndArray();
            json.writeEndObject();
        });
        String text = new String(body, StandardCharsets.UTF_8).replace(seen.name(), "told");
        return new TrainingAgent(socket, server, (HEAD + text).getBytes(StandardCharsets.UTF_8));
    }

    void start() {
        Thread.ofPlatform().daemon().start(this::serve);
    }

    private void serve() {
        while (server.isOpen()) {
            try (SocketChannel client = server.accept()) {
                client.read(ByteBuffer.allocate(MOST_REQUEST_BYTES));
                client.write(ByteBuffer.wrap(answer));
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
