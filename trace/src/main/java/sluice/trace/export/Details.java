package sluice.trace.export;

import java.util.ArrayList;
import java.util.List;

/// Details of a slice besides its name and times. One object is reused for all slices.
final class Details {
    private final List<String> keys = new ArrayList<>();
    private final List<Object> values = new ArrayList<>();

    Details clear() {
        keys.clear();
        values.clear();
        return this;
    }

    Details text(String key, String value) {
        keys.add(key);
        values.add(value);
        return this;
    }

    Details number(String key, long value) {
        keys.add(key);
        values.add(value);
        return this;
    }

    int size() {
        return keys.size();
    }

    String key(int at) {
        return keys.get(at);
    }

    /// A String or a Long.
    Object value(int at) {
        return values.get(at);
    }
}
