package sluice.codegen;

/// One ELF symbol: an entry point itself, or its per-thread twin.
record Symbol(int index, String name, EntryPoint entry, boolean perThread, int since) {
    /// Declares something of this entry point's C type; `name` may be a plain name or `(*name)`.
    String prototype(String result, String name) {
        var parameters = entry.documented() ? Parameter.list(entry.parameters()) : "void";
        return result + " " + name + "(" + parameters + ")";
    }
}
