package sluice.codegen.api;

import java.util.Arrays;
import java.util.EnumSet;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/// Whether an entry point has a hook, and whether its body is written or generated.
public enum Hook {
    /// The call is forwarded; calls of CUDA are also watched.
    NONE("-", EnumSet.allOf(Role.class)),
    /// The library has a body by hand.
    HOOKED("hooked", EnumSet.allOf(Role.class)),
    /// The generated body passes the gate as a copy.
    GATED("gated", EnumSet.of(Role.COPY)),
    /// The generated body forwards the call, and counts it as a call whose GPU time is not charged.
    COUNTED("counted", EnumSet.of(Role.LAUNCH, Role.COPY));

    private final String word;
    private final Set<Role> roles;

    Hook(String word, Set<Role> roles) {
        this.word = word;
        this.roles = roles;
    }

    /// The roles that a call with such a hook can have.
    Set<Role> roles() {
        return roles;
    }

    public boolean generated() {
        return this == GATED || this == COUNTED;
    }

    static Optional<Hook> of(String word) {
        return Arrays.stream(values()).filter(hook -> hook.word.equals(word)).findFirst();
    }

    static String words() {
        return Arrays.stream(values()).map(hook -> hook.word).collect(Collectors.joining(", "));
    }
}
