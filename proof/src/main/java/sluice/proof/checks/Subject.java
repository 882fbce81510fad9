package sluice.proof.checks;

/// What a check is about, where a page of the documentation lists its checks.
public sealed interface Subject permits MemoryWay, View {}
