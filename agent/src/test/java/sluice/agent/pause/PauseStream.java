package sluice.agent.pause;

import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;

/// Reads server-sent events of an operation.
final class PauseStream {
    private PauseStream() {}

    static String untilEnd(Path socket, String path) throws IOException {
        try (SocketChannel channel = SocketChannel.open(StandardProtocolFamily.UNIX)) {
            channel.connect(UnixDomainSocketAddress.of(socket));
            channel.write(ByteBuffer.wrap(("GET " + path + " HTTP/1.1\r\nHost: localhost\r\n\r\n").getBytes(StandardCharsets.US_ASCII)));
            StringBuilder text = new StringBuilder();
            ByteBuffer buffer = ByteBuffer.allocate(4096);
            while (text.indexOf("\"state\":\"done\"") < 0 && channel.read(buffer.clear()) >= 0) {
                text.append(StandardCharsets.UTF_8.decode(buffer.flip()));
            }
            return text.toString();
        }
    }
}
