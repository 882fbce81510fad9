package sluice.cli.output;

import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/// Text from a region, made safe for a terminal. A tenant may have written anything there.
public final class Text {
    private Text() {}

    /// Replaces control characters, which could control the terminal, by `?`.
    public static String visible(String text) {
        StringBuilder visible = null;
        for (int at = 0; at < text.length(); at++) {
            if (Character.isISOControl(text.charAt(at))) {
                visible = visible == null ? new StringBuilder(text) : visible;
                visible.setCharAt(at, '?');
            }
        }
        return visible == null ? text : visible.toString();
    }

    public static String cut(String text, int width) {
        return text.length() <= width ? text : text.substring(0, width - 1) + "…";
    }

    /// Breaks a line between words.
    public static List<String> wrap(String text, int width) {
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

    /// A span of time in about three digits: `40 us`, `1.4 ms`, `12.3 s`, `5m03s`, `2h05m`, `3d04h`.
    public static String duration(long nanos) {
        if (nanos < 1_000_000) {
            return nanos == 0 ? "0 s" : nanos / 1000 + " us";
        }
        if (nanos < 10_000_000) {
            return String.format(Locale.ROOT, "%.1f ms", nanos / 1e6);
        }
        if (nanos < 1_000_000_000) {
            return nanos / 1_000_000 + " ms";
        }
        long seconds = nanos / 1_000_000_000;
        if (seconds < 100) {
            return String.format(Locale.ROOT, "%.1f s", nanos / 1e9);
        }
        if (seconds < 3600) {
            return String.format(Locale.ROOT, "%dm%02ds", seconds / 60, seconds % 60);
        }
        return seconds < 86400
                ? String.format(Locale.ROOT, "%dh%02dm", seconds / 3600, seconds % 3600 / 60)
                : String.format(Locale.ROOT, "%dd%02dh", seconds / 86400, seconds % 86400 / 3600);
    }

    /// A span of time as short as a call: `850 ns`, `12.3 us`, and from a millisecond on as above.
    public static String callTime(long nanos) {
        if (nanos == 0 || nanos >= 1_000_000) {
            return duration(nanos);
        }
        return nanos < 10_000 ? nanos + " ns" : String.format(Locale.ROOT, "%.1f us", nanos / 1e3);
    }

    public static Instant instant(long nanos) {
        return Instant.ofEpochSecond(0, nanos);
    }
}
