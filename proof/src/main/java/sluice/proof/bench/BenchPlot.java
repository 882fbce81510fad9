package sluice.proof.bench;

import java.util.List;
import java.util.Locale;

/// A picture of a report: for each measurement, time with Sluice as a multiple of the time without; a dot for the
/// median, a line from the least to the greatest of the repeats. One SVG file that needs nothing else.
final class BenchPlot {
    private static final int LABELS = 400;
    private static final int WIDTH = 480;
    private static final int ROW = 26;
    private static final int TOP = 40;

    private final List<Measurement> measurements;
    private final double end;
    private final StringBuilder svg = new StringBuilder();

    private BenchPlot(List<Measurement> measurements) {
        this.measurements = measurements;
        end = Math.ceil(2 * measurements.stream().mapToDouble(one -> one.ratio().maximum()).max().orElse(1)) / 2 + 0.5;
    }

    static String svg(BenchReport report) {
        return new BenchPlot(report.measurements()).draw(report.gpu() + (report.simulated() ? " (simulated)" : ""));
    }

    private String draw(String title) {
        int height = TOP + ROW * (measurements.size() + 1);
        append("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" font-family=\"sans-serif\" font-size=\"13\">%n",
                LABELS + WIDTH + 80, height);
        append("<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>%n");
        append("<text x=\"12\" y=\"20\" font-weight=\"bold\">Time with Sluice / time without, %s</text>%n", escaped(title));
        for (double ratio = 0; ratio <= end; ratio += end > 6 ? 1 : 0.5) {
            append("<line x1=\"%2$.1f\" x2=\"%2$.1f\" y1=\"%3$d\" y2=\"%4$d\" stroke=\"%5$s\"/>%n"
                            + "<text x=\"%2$.1f\" y=\"%6$d\" text-anchor=\"middle\" fill=\"#666\">%1$.1f×</text>%n",
                    ratio, x(ratio), TOP - 8, height - ROW, ratio == 1 ? "#333" : "#ddd", height - 8);
        }
        for (int i = 0; i < measurements.size(); i++) {
            row(measurements.get(i), TOP + ROW * i + ROW / 2);
        }
        return svg.append("</svg>\n").toString();
    }

    private void row(Measurement one, int y) {
        Spread ratio = one.ratio();
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
