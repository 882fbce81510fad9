package sluice.agent;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/// In which namespaces this process is.
final class Namespaces {
    private Namespaces() {}

    /// The inode that stands for its pid namespace; 0 when it cannot be known.
    static long ofPids() {
        try {
            return (Long) Files.getAttribute(Path.of("/proc/self/ns/pid"), "unix:ino");
        } catch (IOException e) {
            return 0;
        }
    }
}
