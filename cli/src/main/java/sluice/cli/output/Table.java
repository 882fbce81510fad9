package sluice.cli.output;

import java.util.ArrayList;
import java.util.List;

/// Columns of text, aligned. The last column has any width.
public final class Table {
    public static final String NOTHING = "-";
    private static final String GAP = "  ";
    private static final int SHORTEST_CUT = 12;
    private static final char ESCAPE = '\033';

    private final List<String> header;
    private final boolean[] right;
    private final boolean[] omitted;
    private final List<List<String>> rows = new ArrayList<>();

    /// A header that begins with `>` is that of a column of numbers, which are aligned on the right.
    public Table(String... header) {
        this.header = new ArrayList<>();
        right = new boolean[header.length];
        omitted = new boolean[header.length];
        for (int column = 0; column < header.length; column++) {
            right[column] = header[column].startsWith(">");
            this.header.add(right[column] ? header[column].substring(1) : header[column]);
        }
    }

    public void row(String... cells) {
        rows.add(List.of(cells));
    }

    public boolean isEmpty() {
        return rows.isEmpty();
    }

    /// Leaves a column out that has only `-`.
    public void omitIfEmpty(String title) {
        int column = header.indexOf(title);
        omitted[column] = rows.stream().allMatch(row -> row.get(column).equals(NOTHING));
    }

    /// The table at most so wide, if cutting the last column is enough.
    public List<String> lines(Screen screen, int width) {
        int[] widths = widths();
        int last = header.size() - 1;
        int others = 0;
        for (int column = 0; column < last; column++) {
            others += omitted[column] ? 0 : widths[column] + GAP.length();
        }
        int room = Math.max(SHORTEST_CUT, width - others);
        rows.replaceAll(row -> {
            List<String> cut = new ArrayList<>(row);
            cut.set(last, Text.cut(row.getLast(), room));
            return cut;
        });
        return lines(screen);
    }

    private int[] widths() {
        int[] widths = new int[header.size()];
        measure(header, widths);
        rows.forEach(row -> measure(row, widths));
        return widths;
    }

    public List<String> lines(Screen screen) {
        int[] widths = widths();
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
            if (omitted[column]) {
                continue;
            }
            String padding = " ".repeat(widths[column] - width(cells.get(column)));
            line.append(line.isEmpty() ? "" : GAP);
            line.append(right[column] ? padding + cells.get(column) : cells.get(column) + padding);
        }
        return line.toString().stripTrailing();
    }

    /// Colours take no room.
    private static int width(String cell) {
        if (cell.indexOf(ESCAPE) < 0) {
            return cell.length();
        }
        int width = 0;
        boolean escape = false;
        for (int at = 0; at < cell.length(); at++) {
            escape |= cell.charAt(at) == ESCAPE;
            width += escape ? 0 : 1;
            escape &= cell.charAt(at) != 'm';
        }
        return width;
    }
}
