package sluice.codegen.api;

/// One ELF symbol: an entry point itself, or its per-thread twin.
public record Symbol(int index, String name, EntryPoint entry, boolean perThread, int since) {}
