package sluice.proof.checks;

/// The subject of a check, for a page of the documentation that lists its checks.
public sealed interface Subject permits MemoryWay, View {}
