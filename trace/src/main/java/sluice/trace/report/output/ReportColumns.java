package sluice.trace.report.output;

import java.util.ArrayList;
import java.util.List;

/// Aligned columns of text. A title that begins with `>` is that of a column of numbers.
final class ReportColumns {
    private final List<String[]> rows = new ArrayList<>();
    private final boolean[] right;

    ReportColumns(String... titles) {
        right = new boolean[titles.length];
        String[] plain = titles.clone();
        for (int i = 0; i < titles.length; i++) {
            right[i] = titles[i].startsWith(">");
            plain[i] = right[i] ? titles[i].substring(1) : titles[i];
        }
        rows.add(plain);
    }

    void row(String... cells) {
        rows.add(cells);
    }

    List<String> lines() {
        int[] widths = new int[right.length];
        for (String[] row : rows) {
            for (int i = 0; i < widths.length; i++) {
                widths[i] = Math.max(widths[i], row[i].length());
            }
        }
        return rows.stream().map(row -> line(row, widths)).toList();
    }

    private String line(String[] row, int[] widths) {
        StringBuilder line = new StringBuilder();
        for (int i = 0; i < widths.length; i++) {
            String padding = " ".repeat(widths[i] - row[i].length());
            line.append(right[i] ? padding + row[i] : row[i] + padding).append("  ");
        }
        return line.toString().stripTrailing();
    }
}
