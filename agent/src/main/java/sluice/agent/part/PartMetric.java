package sluice.agent.part;

import java.util.function.LongSupplier;

/// A counter that a part adds to `/metrics`.
///
/// @param name ends in `_total`
/// @param help one line
public record PartMetric(String name, String help, LongSupplier value) {}
