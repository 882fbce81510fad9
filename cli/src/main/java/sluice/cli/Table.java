package sluice.cli;

import java.util.ArrayList;
import java.util.List;

/// Columns of text, aligned. The last one is as wide as it likes.
final class Table {
    private static final String GAP = "  ";

    private final List<String> header;
    private final boolean[] right;
    private final List<List<String>> rows = new ArrayList<>();

    /// A header that begins with `>` is that of a column of numbers, which are aligned on the right.
    Table(String... header) {
        this.header = new ArrayList<>();
        right = new boolean[header.length];
        for (int column = 0; column < header.length; column++) {
            right[column] = header[column].startsWith(">");
            this.header.add(right[column] ? header[column].substring(1) : header[column]);
        }
    }

    void row(String... cells) {
        rows.add(List.of(cells));
    }

    boolean isEmpty() {
        return rows.isEmpty();
    }

    List<String> lines(Screen screen) {
        int[] widths = new int[header.size()];
        measure(header, widths);
        rows.forEach(row -> measure(row, widths));
        List<String> lines = new ArrayList<>();
        lines.add(screen.bold(line(header, widths)));
        rows.forEach(row -> lines.add(line(row, widths)));
        return lines;
    }

    private static void measure(List<String> cells, int[] widths) {
        for (int column = 0; column < widths.length; column++) {
            widths[column] = Math.max(widths[column], width(cells.get(column)));
        }
    }

    private String line(List<String> cells, int[] widths) {
        StringBuilder line = new StringBuilder();
        for (int column = 0; column < widths.length; column++) {
            String padding = " ".repeat(widths[column] - width(cells.get(column)));
            line.append(column == 0 ? "" : GAP);
            line.append(right[column] ? padding + cells.get(column) : cells.get(column) + padding);
        }
        return line.toString().stripTrailing();
    }

    /// Colours take no room.
    private static int width(String cell) {
        int width = 0;
        boolean escape = false;
        for (int at = 0; at < cell.length(); at++) {
            escape |= cell.charAt(at) == '\033';
            width += escape ? 0 : 1;
            escape &= cell.charAt(at) != 'm';
        }
        return width;
    }
}
