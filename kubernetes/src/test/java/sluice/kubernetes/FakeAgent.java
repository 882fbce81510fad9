package sluice.kubernetes;

import java.io.IOException;
import java.io.InputStream;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;

/// The part of the agent's HTTP that the node program uses, on a Unix socket. The agent's own tests hold the real one to the same requests.
public final class FakeAgent implements AutoCloseable {
    private static final String GPU = "{\"gpu\":%d,\"uuid\":\"GPU-000%d\",\"name\":\"Simulated GPU\",\"totalBytes\":17179869184,\"health\":[%s],"
            + "\"architecture\":\"Hopper\",\"capability\":\"9.0\",\"driver\":\"%s\"}";

    private final Path socket;
    private final ServerSocketChannel server;
    public final Map<String, String> claims = new ConcurrentHashMap<>();
    /// What is wrong with the second GPU, as JSON texts.
    volatile String health = "";
    volatile boolean secondIsGone;
    volatile String findings = "";
    /// Claims whose declaration has this text are refused, as an agent does that does not know a limit.
    volatile String refused = "";
    final AtomicInteger audits = new AtomicInteger();
    /// So many requests that change something get the answer that there were too many.
    final AtomicInteger tooMany = new AtomicInteger();

    public FakeAgent(Path socket) throws IOException {
        this.socket = socket;
        Files.createDirectories(socket.getParent());
        Files.deleteIfExists(socket);
        server = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
        server.bind(UnixDomainSocketAddress.of(socket), 128);
        Thread.ofVirtual().start(this::serve);
    }

    private void serve() {
        while (server.isOpen()) {
            try {
                SocketChannel client = server.accept();
                Thread.ofVirtual().start(() -> answer(client));
            } catch (IOException e) {
                return;
            }
        }
    }

    private void answer(SocketChannel client) {
        try (client) {
            InputStream in = Channels.newInputStream(client);
            StringBuilder head = new StringBuilder();
            while (!head.toString().endsWith("\r\n\r\n")) {
                int next = in.read();
                if (next < 0) {
                    return;
                }
                head.append((char) next);
            }
            int length = Integer.parseInt(head.toString().replaceAll("(?s).*Content-Length: (\\d+).*", "$1"));
            String body = new String(in.readNBytes(length), StandardCharsets.UTF_8);
            String[] words = head.toString().split(" ", 3);
            String id = words[1].substring(words[1].lastIndexOf('/') + 1);
            String answer = "";
            if (words[0].equals("PUT") && !refused.isEmpty() && body.contains(refused)) {
                client.write(ByteBuffer.wrap(("HTTP/1.1 400 Bad Request\r\n\r\nit knows no " + refused).getBytes(StandardCharsets.UTF_8)));
                return;
            }
            if (!words[0].equals("GET") && tooMany.getAndUpdate(left -> Math.max(0, left - 1)) > 0) {
                client.write(ByteBuffer.wrap("HTTP/1.1 429 Too Many Requests\r\n\r\nwait a second".getBytes(StandardCharsets.UTF_8)));
                return;
            }
            switch (words[0] + " " + words[1].replaceFirst("/claims/.*", "/claims/")) {
                case "GET /v1/gpus" -> answer = "{\"gpus\":[" + GPU.formatted(0, 0, "", "580.82.07") + (secondIsGone ? "" : "," + GPU.formatted(1, 1, health, "580.82.07"))
                        + "," + GPU.formatted(2, 2, "", "") + "]}"; // the third is in a tenant's ledger only
                case "GET /v1/audit" -> {
                    audits.incrementAndGet();
                    answer = "{\"audited\":true,\"gpus\":[],\"findings\":[" + findings + "]}";
                }
                case "GET /metrics" -> answer = "sluice_tenant_running{tenant=\"k8s.team.train\"} 1\n";
                case "GET /metrics?names=hami" -> answer = "names of hami\n";
                case "GET /v1/claims" -> answer = claims.keySet().stream().map(claim -> "{\"id\":\"" + claim + "\"}").collect(Collectors.joining(",", "{\"claims\":[", "]}"));
                case "PUT /v1/claims/" -> claims.put(id, body);
                case "DELETE /v1/claims/" -> claims.remove(id);
                default -> throw new IOException("not asked for: " + head);
            }
            client.write(ByteBuffer.wrap(("HTTP/1.1 200 OK\r\n\r\n" + answer).getBytes(StandardCharsets.UTF_8)));
        } catch (IOException e) {
            // The client went away.
        }
    }

    @Override
    public void close() throws IOException {
        server.close();
        Files.deleteIfExists(socket);
    }
}
