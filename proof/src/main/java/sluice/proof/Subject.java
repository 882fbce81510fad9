package sluice.proof;

/// What a check is about, where a page of the documentation lists its checks.
sealed interface Subject permits Way, View {}
