package sluice.proof.bench;

import java.util.List;
import java.util.Locale;

/// A picture of ratios, a row for each: a dot for the median, a line from the least to the greatest of the repeats. One SVG file that needs
/// nothing else.
public final class BenchPlot {
    private static final int LABELS = 400;
    private static final int WIDTH = 480;
    private static final int ROW = 26;
    private static final int TOP = 40;

    /// A row of the picture.
    public record Ratio(String name, Spread spread) {}

    private final List<Ratio> rows;
    private final double end;
    private final StringBuilder svg = new StringBuilder();

    private BenchPlot(List<Ratio> rows) {
        this.rows = rows;
        end = Math.ceil(2 * rows.stream().mapToDouble(one -> one.spread().maximum()).max().orElse(1)) / 2 + 0.5;
    }

    public static String svg(String title, List<Ratio> rows) {
        return new BenchPlot(rows).draw(title);
    }

    /// For each measurement, time with Sluice as a multiple of the time without.
    static String svg(BenchReport report) {
        return svg("Time with Sluice / time without, " + report.gpu() + (report.simulated() ? " (simulated)" : ""),
                report.measurements().stream().map(one -> new Ratio(one.name(), one.ratio())).toList());
    }

    private String draw(String title) {
        int height = TOP + ROW * (rows.size() + 1);
        append("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" font-family=\"sans-serif\" font-size=\"13\">%n",
                LABELS + WIDTH + 80, height);
        append("<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>%n");
        append("<text x=\"12\" y=\"20\" font-weight=\"bold\">%s</text>%n", escaped(title));
        for (double ratio = 0; ratio <= end; ratio += step()) {
            append("<line x1=\"%2$.1f\" x2=\"%2$.1f\" y1=\"%3$d\" y2=\"%4$d\" stroke=\"%5$s\"/>%n"
                            + "<text x=\"%2$.1f\" y=\"%6$d\" text-anchor=\"middle\" fill=\"#666\">%1$.1f×</text>%n",
                    ratio, x(ratio), TOP - 8, height - ROW, ratio == 1 ? "#333" : "#ddd", height - 8);
        }
        for (int i = 0; i < rows.size(); i++) {
            row(rows.get(i), TOP + ROW * i + ROW / 2);
        }
        return svg.append("</svg>\n").toString();
    }

    private double step() {
        return end <= 6 ? 0.5 : end <= 12 ? 1 : Math.ceil(end / 10);
    }

    private void row(Ratio one, int y) {
        Spread ratio = one.spread();
        append("<text x=\"%d\" y=\"%d\" text-anchor=\"end\">%s</text>%n", LABELS - 12, y + 4, escaped(one.name()));
        append("<line x1=\"%.1f\" x2=\"%.1f\" y1=\"%3$d\" y2=\"%3$d\" stroke=\"#1f6f8b\" stroke-width=\"3\"/>%n",
                x(ratio.minimum()), x(ratio.maximum()), y);
        append("<circle cx=\"%.1f\" cy=\"%d\" r=\"5\" fill=\"#1f6f8b\"/>%n", x(ratio.median()), y);
        append("<text x=\"%.1f\" y=\"%d\">%.2f×</text>%n", x(ratio.maximum()) + 10, y + 4, ratio.median());
    }

    private double x(double ratio) {
        return LABELS + WIDTH * ratio / end;
    }

    private void append(String format, Object... values) {
        svg.append(String.format(Locale.ROOT, format, values));
    }

    private static String escaped(String text) {
        return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;");
    }
}
