package sluice.codegen;

/// What Sluice does about an entry point today, in the words of `docs/hooks.md`.
enum Enforcement {
    ENFORCED("enforced"),
    GATED("gated"),
    COUNTED("counted"),
    NOT_YET("not yet"),
    PASSES("passes");

    private final String word;

    Enforcement(String word) {
        this.word = word;
    }

    static Enforcement of(EntryPoint entry) {
        if (entry.hook() == Hook.COUNTED) {
            return COUNTED;
        }
        if (entry.hooked()) {
            return entry.role().submits() ? GATED : ENFORCED;
        }
        return entry.role() == Role.FORWARD ? PASSES : NOT_YET;
    }

    String word() {
        return word;
    }
}
