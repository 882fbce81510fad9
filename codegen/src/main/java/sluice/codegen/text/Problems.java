package sluice.codegen.text;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/// Collects the errors of the specs, so that one run reports every wrong line.
public final class Problems {
    private record Problem(int line, String reason) {}

    private final Map<String, List<Problem>> byFile = new LinkedHashMap<>();

    public void report(String file, int line, String reason) {
        byFile.computeIfAbsent(file, _ -> new ArrayList<>()).add(new Problem(line, reason));
    }

    public boolean any() {
        return !byFile.isEmpty();
    }

    /// `file:line: reason`, in the order of the files and their lines.
    public List<String> lines() {
        var lines = new ArrayList<String>();
        byFile.forEach((file, problems) -> problems.stream()
                .sorted(Comparator.comparingInt(Problem::line))
                .forEach(problem -> lines.add(file + ":" + problem.line() + ": " + problem.reason())));
        return List.copyOf(lines);
    }
}
