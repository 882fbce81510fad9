package sluice.it.house;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/// Who may use whom, as `docs/directions.txt` says it.
///
/// @param uses   what each module may use: modules of ours, and the beginnings of the names of others' packages
/// @param layers the packages of each module, from the top down
record Directions(Map<String, Set<String>> uses, Map<String, List<List<String>>> layers) {
    static Directions parse(String text) {
        Map<String, Set<String>> uses = new TreeMap<>();
        Map<String, List<List<String>>> layers = new TreeMap<>();
        boolean packages = false;
        String module = "";
        for (String line : text.lines().toList()) {
            if (!line.startsWith(" ")) {
                packages = line.startsWith("Packages");
                continue;
            }
            List<String> words = new ArrayList<>(List.of(line.strip().split("[ ,]+")));
            if (!packages) {
                uses.put(words.removeFirst(), Set.copyOf(words));
                continue;
            }
            module = line.startsWith("   ") ? module : words.removeFirst();
            layers.computeIfAbsent(module, added -> new ArrayList<>()).add(List.copyOf(words));
        }
        return new Directions(uses, layers);
    }

    boolean mayUse(String module, String used) {
        return uses.getOrDefault(module, Set.of()).contains(used);
    }

    boolean mayUseLibrary(String module, String name) {
        return name.startsWith("java.") || name.startsWith("javax.") || name.startsWith("jdk.")
                || uses.getOrDefault(module, Set.of()).stream().anyMatch(word -> (name + ".").startsWith(word + "."));
    }

    /// The line of a package, from the top; -1 when it is on none. A module that is not listed has one package.
    int line(String module, String room) {
        List<List<String>> lines = layers.getOrDefault(module, List.of(List.of("(root)")));
        for (int at = 0; at < lines.size(); at++) {
            if (lines.get(at).contains(room)) {
                return at;
            }
        }
        return -1;
    }
}
