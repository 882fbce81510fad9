package sluice.codegen;

import java.util.ArrayList;
import java.util.List;

/// Collects what is wrong in the specs, so that one run reports every wrong line.
final class Problems {
    private final List<String> lines = new ArrayList<>();

    void report(String file, int line, String reason) {
        lines.add(file + ":" + line + ": " + reason);
    }

    boolean any() {
        return !lines.isEmpty();
    }

    List<String> lines() {
        return List.copyOf(lines);
    }
}
