package sluice.codegen.api;

import java.util.Arrays;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Collectors;

/// The role of a call for Sluice. `spec/README.md` explains the roles.
public enum Role {
    FORWARD("changes nothing that Sluice limits"),
    CHARGE("takes GPU memory, or may take some"),
    REFUND("gives GPU memory back"),
    LAUNCH("submits kernels"),
    COPY("submits copies, sets or prefetches"),
    SYNC("waits for submitted work"),
    QUERY("tells how much memory there is; the tenant is told its own truth"),
    INIT("the program begins to use CUDA; Sluice attaches to the tenant's region"),
    RESOLVE("hands out other entry points");

    private final String meaning;

    Role(String meaning) {
        this.meaning = meaning;
    }

    public String word() {
        return name().toLowerCase(Locale.ROOT);
    }

    public String meaning() {
        return meaning;
    }

    /// Such calls put work on the GPU, so that they pass the gate.
    boolean submits() {
        return this == LAUNCH || this == COPY;
    }

    static Optional<Role> of(String word) {
        return Arrays.stream(values()).filter(role -> role.word().equals(word)).findFirst();
    }

    static String words() {
        return Arrays.stream(values()).map(Role::word).collect(Collectors.joining(", "));
    }
}
