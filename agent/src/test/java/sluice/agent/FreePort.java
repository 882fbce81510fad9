package sluice.agent;

import java.io.IOException;
import java.net.BindException;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.ThreadLocalRandom;

/// A port for an agent that will bind it later. It is below those that the kernel gives out by itself, so that nobody gets it in between.
final class FreePort {
    private static final int LEAST = 10_000;
    private static final int ENOUGH = 1_000;

    private FreePort() {}

    static int choose() throws IOException {
        int given = Integer.parseInt(Files.readString(Path.of("/proc/sys/net/ipv4/ip_local_port_range")).strip().split("\\s+")[0]);
        while (true) {
            int port = ThreadLocalRandom.current().nextInt(LEAST, Math.max(given, LEAST + ENOUGH));
            try (ServerSocket free = new ServerSocket(port)) {
                return free.getLocalPort();
            } catch (BindException e) {
                // Somebody has it; another one then.
            }
        }
    }
}
