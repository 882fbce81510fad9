package sluice.kubernetes.kubelet;

import java.util.logging.Level;
import java.util.logging.Logger;

/// What Netty may write into the program's log.
final class NettyLog {
    /// Kept, so that its level stays.
    private static final Logger BOOTSTRAP = Logger.getLogger("io.netty.bootstrap");

    private NettyLog() {}

    /// Netty warns at each connection, of server and client, that a Unix socket has no keep-alive (seen in 4.2.17).
    static void quieten() {
        BOOTSTRAP.setLevel(Level.SEVERE);
    }
}
