package sluice.codegen.api;

/// How Sluice treats an entry point, in the words of `docs/hooks.md`.
public enum Enforcement {
    ENFORCED("enforced"),
    GATED("gated"),
    COUNTED("counted"),
    NOT_YET("not yet"),
    WATCHED("watched"),
    PASSES("passes");

    private final String word;

    Enforcement(String word) {
        this.word = word;
    }

    public static Enforcement of(ApiFile file, EntryPoint entry) {
        if (entry.hook() == Hook.COUNTED) {
            return COUNTED;
        }
        if (entry.hooked()) {
            return entry.role().submits() ? GATED : ENFORCED;
        }
        if (entry.role() != Role.FORWARD) {
            return NOT_YET;
        }
        return file == ApiFile.CUDA && entry.documented() ? WATCHED : PASSES;
    }

    public String word() {
        return word;
    }
}
