package sluice.cli;

import java.time.Instant;

/// Text from a region for a terminal. A tenant may have written anything there.
final class Text {
    private Text() {}

    /// Control characters, which could take a terminal over, become `?`.
    static String visible(String text) {
        StringBuilder visible = new StringBuilder();
        text.codePoints().forEach(c -> visible.appendCodePoint(Character.isISOControl(c) ? '?' : c));
        return visible.toString();
    }

    static String cut(String text, int width) {
        return text.length() <= width ? text : text.substring(0, width - 1) + "…";
    }

    static Instant instant(long nanos) {
        return Instant.ofEpochSecond(0, nanos);
    }
}
