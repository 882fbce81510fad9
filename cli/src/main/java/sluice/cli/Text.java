package sluice.cli;

import java.time.Instant;
import java.util.ArrayList;
import java.util.List;

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

    /// Breaks a line between words.
    static List<String> wrap(String text, int width) {
        List<String> lines = new ArrayList<>();
        StringBuilder line = new StringBuilder();
        for (String word : text.split(" ")) {
            if (!line.isEmpty() && line.length() + 1 + word.length() > width) {
                lines.add(line.toString());
                line.setLength(0);
            }
            line.append(line.isEmpty() ? "" : " ").append(word);
        }
        lines.add(line.toString());
        return lines;
    }

    static Instant instant(long nanos) {
        return Instant.ofEpochSecond(0, nanos);
    }
}
