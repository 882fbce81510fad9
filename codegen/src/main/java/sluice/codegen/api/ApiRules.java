package sluice.codegen.api;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import sluice.codegen.text.Problems;

/// The rules between the lines of a table: each symbol once, and one symbol for each (name, version).
final class ApiRules {
    private ApiRules() {}

    static void check(List<EntryPoint> entries, String path, Problems problems) {
        var lines = new HashMap<String, Integer>();
        for (var entry : entries) {
            var earlier = lines.putIfAbsent(entry.symbol(), entry.line());
            if (earlier != null) {
                problems.report(path, entry.line(), "duplicate symbol '" + entry.symbol() + "'; first in line " + earlier);
            }
        }
        for (var entry : entries) {
            entry.twinSymbol().ifPresent(twin -> {
                var earlier = lines.putIfAbsent(twin, entry.line());
                if (earlier != null && earlier != entry.line()) {
                    problems.report(path, entry.line(),
                            "per-thread twin '" + twin + "' clashes with the symbol in line " + earlier);
                }
            });
            if (entry.twin().filter(twin -> twin.since() < entry.since()).isPresent()) {
                problems.report(path, entry.line(), "per-thread twin is older than '" + entry.symbol() + "' itself");
            }
        }
        checkVersions(entries, path, problems);
    }

    private static void checkVersions(List<EntryPoint> entries, String path, Problems problems) {
        Map<String, EntryPoint> newest = new HashMap<>();
        for (var entry : entries) {
            var earlier = entry.documented() ? newest.put(entry.apiName(), entry) : null;
            if (earlier == null || earlier.symbol().equals(entry.symbol())) {
                continue;
            }
            if (Integer.signum(entry.since() - earlier.since()) != Integer.signum(entry.generation() - earlier.generation())) {
                problems.report(path, entry.line(), "version %d of '%s' does not fit '%s' of version %d in line %d"
                        .formatted(entry.since(), entry.symbol(), earlier.symbol(), earlier.since(), earlier.line()));
            }
        }
    }
}
