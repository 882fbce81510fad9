package sluice.agent;

import java.io.IOException;
import java.net.BindException;
import java.net.ServerSocket;
import java.util.concurrent.ThreadLocalRandom;

/// A port for an agent that will bind it later. It is below those that a kernel gives away unless told otherwise, so that nobody else
/// gets it in between.
public final class FreePort {
    private FreePort() {}

    public static int choose() throws IOException {
        while (true) {
            int port = ThreadLocalRandom.current().nextInt(10_000, 30_000);
            try (ServerSocket free = new ServerSocket(port)) {
                return free.getLocalPort();
            } catch (BindException e) {
                // Somebody has it; another one then.
            }
        }
    }
}
