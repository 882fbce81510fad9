package sluice.codegen;

/// One ELF symbol: an entry point itself, or its per-thread twin.
record Symbol(int index, String name, EntryPoint entry, boolean perThread, int since) {}
