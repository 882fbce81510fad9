package sluice.codegen;

/// What Sluice does about an entry point today, in the words of `docs/hooks.md`.
enum Enforcement {
    ENFORCED("enforced"),
    NOT_YET("not yet"),
    PASSES("passes");

    private final String word;

    Enforcement(String word) {
        this.word = word;
    }

    static Enforcement of(EntryPoint entry) {
        if (entry.hooked()) {
            return ENFORCED;
        }
        return entry.role() == Role.FORWARD ? PASSES : NOT_YET;
    }

    String word() {
        return word;
    }
}
