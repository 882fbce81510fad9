package sluice.kubernetes.kubelet;

import java.io.IOException;
import java.net.ConnectException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/// Sockets of other pods of the node program, on which nobody listens any more: a pod that was killed leaves its own, and kubelet would try
/// them again and again.
///
/// @param own  socket of this program, in the same folder
/// @param name of the files that may be removed
record DeadSockets(Path own, Pattern name) {
    /// Between bind and listen a socket looks dead too.
    private static final Duration OLD = Duration.ofSeconds(30);

    /// @param prefix and suffix around the uid of the pod
    static DeadSockets of(Path own, String prefix, String suffix) {
        return new DeadSockets(own, Pattern.compile(Pattern.quote(prefix) + "[0-9a-z-]{1,36}" + Pattern.quote(suffix)));
    }

    void remove() {
        try (Stream<Path> all = Files.list(own.getParent())) {
            List<Path> others = all.filter(file -> !file.equals(own) && name.matcher(file.getFileName().toString()).matches()).toList();
            for (Path socket : others) {
                if (isDead(socket)) {
                    Files.deleteIfExists(socket);
                }
            }
        } catch (IOException e) {
            // Tried again; nothing depends on it.
        }
    }

    private static boolean isDead(Path socket) throws IOException {
        if (Files.getLastModifiedTime(socket, LinkOption.NOFOLLOW_LINKS).toInstant().isAfter(Instant.now().minus(OLD))) {
            return false;
        }
        try (SocketChannel channel = SocketChannel.open(StandardProtocolFamily.UNIX)) {
            channel.connect(UnixDomainSocketAddress.of(socket));
            return false;
        } catch (ConnectException e) {
            return true;
        }
    }
}
