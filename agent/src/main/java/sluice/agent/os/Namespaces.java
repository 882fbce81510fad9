package sluice.agent.os;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/// The namespaces of this process.
public final class Namespaces {
    /// The kernel's number of the pid namespace that a machine begins with.
    private static final long FIRST = 0xEFFF_FFFCL;

    private Namespaces() {}

    /// Whether it sees all processes of the machine, by the numbers that a driver knows them by.
    public static boolean seesAllPids() {
        try {
            return (Long) Files.getAttribute(Path.of("/proc/self/ns/pid"), "unix:ino") == FIRST;
        } catch (IOException e) {
            return false;
        }
    }
}
