package sluice.region.limits;

import java.util.Locale;

/// The type of a value, and its form in JSON.
public enum LimitKind {
    /// Bytes by GPU; 0 is none.
    SIZE("g"),
    /// Bytes; 0 is none.
    BYTES("g"),
    /// Thousandths by GPU; 0 is none.
    PART("%"),
    NUMBER(""),
    WORD(""),
    SWITCH(""),
    /// Microseconds; 0 is the default.
    TIME("ms"),
    /// Milliseconds; 0 is no wait.
    WAIT("");

    private final String unit;

    LimitKind(String unit) {
        this.unit = unit;
    }

    /// The unit that people mean most often; empty where a number stands alone.
    public String unit() {
        return unit;
    }

    public String word() {
        return name().toLowerCase(Locale.ROOT);
    }

    public boolean isByGpu() {
        return this == SIZE || this == PART;
    }
}
