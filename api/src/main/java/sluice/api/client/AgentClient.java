package sluice.api.client;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import sluice.region.place.SluiceException;

/// Sends requests to an agent on its Unix socket. One connection for each request. It has only the parts of HTTP that the agent uses.
public final class AgentClient {
    private static final Duration PATIENCE = Duration.ofSeconds(5);
    private static final int HEAD_BYTES = 64 * 1024;

    private final Path socket;

    public AgentClient(Path socket) {
        this.socket = socket;
    }

    public record Response(int status, String head, byte[] body) {
        public String text() {
            return new String(body, StandardCharsets.UTF_8);
        }
    }

    public Response get(String path) {
        return ask("GET", path, new byte[0]);
    }

    /// Sends a request, and waits for the whole answer.
    public Response ask(String method, String path, byte[] body) {
        try (SocketChannel channel = SocketChannel.open(StandardProtocolFamily.UNIX)) {
            Thread.ofVirtual().start(() -> hangUpLater(channel));
            channel.connect(UnixDomainSocketAddress.of(socket));
            String head = method + " " + path + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: " + body.length + "\r\n\r\n";
            write(channel, head.getBytes(StandardCharsets.ISO_8859_1));
            write(channel, body);
            return response(Channels.newInputStream(channel));
        } catch (IOException e) {
            throw new SluiceException("the agent at " + socket + " does not answer (" + e.getMessage() + "); see whether it runs", e);
        }
    }

    /// A stopped agent (SIGSTOP) accepts connections, but never answers.
    private static void hangUpLater(SocketChannel channel) {
        try (channel) {
            Thread.sleep(PATIENCE);
        } catch (IOException | InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static void write(SocketChannel channel, byte[] bytes) throws IOException {
        ByteBuffer buffer = ByteBuffer.wrap(bytes);
        while (buffer.hasRemaining()) {
            channel.write(buffer);
        }
    }

    private static Response response(InputStream in) throws IOException {
        String head = head(in);
        String[] words = head.split(" ", 3);
        if (words.length < 3 || !words[0].startsWith("HTTP/1.")) {
            throw new IOException("it does not speak HTTP");
        }
        return new Response(Integer.parseInt(words[1]), head, in.readAllBytes());
    }

    private static String head(InputStream in) throws IOException {
        ByteArrayOutputStream head = new ByteArrayOutputStream();
        int ends = 0;
        while (ends < 2) {
            int next = in.read();
            if (next < 0 || head.size() > HEAD_BYTES) {
                throw new IOException("it hung up");
            }
            head.write(next);
            ends = next == '\n' ? ends + 1 : next == '\r' ? ends : 0;
        }
        return head.toString(StandardCharsets.ISO_8859_1);
    }
}
