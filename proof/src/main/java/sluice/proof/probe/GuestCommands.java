package sluice.proof.probe;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import sluice.proof.facts.Facts;

/// Properties of the process that a library in it must not change.
final class GuestCommands {
    private static final List<String> KEPT = List.of("SigBlk", "SigIgn", "SigCgt", "Umask");

    private GuestCommands() {}

    static Facts status() throws IOException {
        Facts facts = Facts.of();
        for (String line : Files.readAllLines(Path.of("/proc/self/status"))) {
            String[] parts = line.split(":\\s*", 2);
            if (KEPT.contains(parts[0])) {
                facts.values().put(parts[0], parts[1]);
            }
        }
        facts.values().put("variables", Integer.toString(System.getenv().size()));
        return facts;
    }

    /// The program's name in `ps` and `/proc/PID/stat`.
    static Facts rename(String name) throws IOException {
        Files.writeString(Path.of("/proc/self/comm"), name);
        return Facts.of("status", 0);
    }
}
