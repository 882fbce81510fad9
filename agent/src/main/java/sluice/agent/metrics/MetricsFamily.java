package sluice.agent.metrics;

import java.util.List;

/// An exported name, its meaning, and the labels of its values.
///
/// @param name as it is exported, so counters end in `_total`
record MetricsFamily(Kind kind, String name, String help, List<String> labels) {
    private static final String TOTAL = "_total";

    enum Kind {
        GAUGE,
        COUNTER,
        /// For counters of older tools, whose names lack `_total`.
        UNTYPED
    }

    MetricsFamily {
        labels = List.copyOf(labels);
        if (kind == Kind.COUNTER != name.endsWith(TOTAL)) {
            throw new IllegalArgumentException(name);
        }
    }

    static MetricsFamily gauge(String name, List<String> labels, String help) {
        return new MetricsFamily(Kind.GAUGE, name, help, labels);
    }

    static MetricsFamily counter(String name, List<String> labels, String help) {
        return new MetricsFamily(Kind.COUNTER, name, help, labels);
    }

    static MetricsFamily untyped(String name, List<String> labels, String help) {
        return new MetricsFamily(Kind.UNTYPED, name, help, labels);
    }

    /// The name without the suffix that the formats add.
    String base() {
        return kind == Kind.COUNTER ? name.substring(0, name.length() - TOTAL.length()) : name;
    }
}
