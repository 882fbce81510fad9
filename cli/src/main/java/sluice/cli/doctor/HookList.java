package sluice.cli.doctor;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;

/// The CUDA calls that the library of this build holds to a quota. They are read from the `cuda.api` that the library was generated from.
final class HookList {
    private static final int SYMBOL = 0;
    private static final int ROLE = 3;
    private static final int HOOK = 4;
    private static final Set<String> ENFORCING = Set.of("hooked", "gated");

    private final List<String[]> entries;

    private HookList(List<String[]> entries) {
        this.entries = entries;
    }

    static HookList read() {
        try (InputStream api = HookList.class.getResourceAsStream("cuda.api")) {
            return parse(new String(api.readAllBytes(), StandardCharsets.UTF_8));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    static HookList parse(String api) {
        return new HookList(api.lines()
                .filter(line -> line.startsWith("cu"))
                .map(line -> line.strip().split(" +", HOOK + 2))
                .filter(columns -> columns.length > HOOK)
                .toList());
    }

    /// Names of calls with a role, without their version suffix, for which there is a hook.
    SortedSet<String> enforced(String role) {
        return names(role, true);
    }

    /// Names of calls with a role of which no version has a hook yet.
    SortedSet<String> notYet(String role) {
        SortedSet<String> names = names(role, false);
        names.removeAll(enforced(role));
        return names;
    }

    private SortedSet<String> names(String role, boolean hooked) {
        SortedSet<String> names = new TreeSet<>();
        for (String[] entry : entries) {
            if (entry[ROLE].equals(role) && ENFORCING.contains(entry[HOOK]) == hooked) {
                names.add(entry[SYMBOL].replaceFirst("_v\\d+$", ""));
            }
        }
        return names;
    }
}
