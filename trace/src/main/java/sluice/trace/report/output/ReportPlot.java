package sluice.trace.report.output;

import java.util.Locale;

/// A plot over the time of the trace: an SVG that is stretched to the room there is, with axes beside it that are not.
final class ReportPlot {
    private final StringBuilder shapes = new StringBuilder();
    private final StringBuilder notes = new StringBuilder();
    private final String series;
    private final long nanos;
    private final double top;

    /// @param series name of the values that are shown under the pointer
    /// @param top    value at the upper edge
    ReportPlot(String series, long nanos, double top) {
        this.series = series;
        this.nanos = nanos;
        this.top = top;
    }

    /// Steps filled down to the axis; a value below 0 is not known.
    ReportPlot area(double[] values, String colour, double opacity) {
        StringBuilder path = new StringBuilder();
        int from = 0;
        while (from < values.length) {
            if (values[from] < 0) {
                from++;
                continue;
            }
            path.append(ReportHtml.format("M%.2f 100", x(from, values)));
            while (from < values.length && values[from] >= 0) {
                path.append(ReportHtml.format("L%.2f %.2fH%.2f", x(from, values), y(values[from]), x(from + 1, values)));
                from++;
            }
            path.append("V100Z");
        }
        shapes.append("<path d=\"").append(path).append("\" fill=\"var(--").append(colour).append(ReportHtml.format(")\" fill-opacity=\"%.2f\"/>", opacity));
        return this;
    }

    /// A line through the middles of steps.
    ReportPlot line(double[] values, String colour) {
        StringBuilder path = new StringBuilder();
        for (int i = 0; i < values.length; i++) {
            if (values[i] >= 0) {
                path.append(path.isEmpty() || values[i - 1] < 0 ? 'M' : 'L').append(ReportHtml.format("%.2f %.2f", x(i + 0.5, values), y(values[i])));
            }
        }
        shapes.append("<path d=\"").append(path).append("\" fill=\"none\" stroke=\"var(--").append(colour)
                .append(")\" stroke-width=\"2\" stroke-linejoin=\"round\" vector-effect=\"non-scaling-stroke\"/>");
        return this;
    }

    /// A dashed line at one value, with a note.
    ReportPlot level(double value, String colour, String note) {
        shapes.append(ReportHtml.format("<path d=\"M0 %.2fH1000\" fill=\"none\" stroke=\"var(--%s)\" stroke-width=\"1.5\" "
                + "stroke-dasharray=\"6 4\" vector-effect=\"non-scaling-stroke\"/>", y(value), colour));
        notes.append(ReportHtml.format("<span class=\"note\" style=\"right:4px;bottom:%.1f%%\">%s</span>", 100 - y(value) + 1, ReportHtml.escaped(note)));
        return this;
    }

    /// A note at a moment and value.
    ReportPlot note(long atNanos, double value, String note) {
        double x = 100.0 * atNanos / Math.max(1, nanos);
        String side = x > 60 ? ReportHtml.format("right:%.1f%%", 100 - x) : ReportHtml.format("left:%.1f%%", x);
        notes.append(ReportHtml.format("<span class=\"note\" style=\"%s;bottom:%.1f%%\">%s</span>", side, 100 - y(value) + 1, ReportHtml.escaped(note)));
        return this;
    }

    private static double x(double at, double[] values) {
        return 1000 * at / values.length;
    }

    private double y(double value) {
        return 100 - 100 * Math.min(value, top) / top;
    }

    /// @param ticks  values that get a rule
    /// @param labels the texts beside them
    String html(double[] ticks, String[] labels) {
        StringBuilder html = new StringBuilder("<div class=\"chart\"><div class=\"y\">");
        for (int i = 0; i < ticks.length; i++) {
            html.append(ReportHtml.format("<span style=\"bottom:%.1f%%\">%s</span>", 100 * ticks[i] / top, labels[i]));
        }
        html.append("</div><div class=\"plot\" data-series=\"").append(series).append("\">");
        for (double tick : ticks) {
            html.append(tick == 0 ? "" : ReportHtml.format("<div class=\"rule\" style=\"bottom:%.1f%%\"></div>", 100 * tick / top));
        }
        html.append("<svg viewBox=\"0 0 1000 100\" preserveAspectRatio=\"none\" aria-hidden=\"true\">").append(shapes).append("</svg>")
                .append(notes).append("</div>").append(timeAxis()).append("</div>\n");
        return html.toString();
    }

    /// 1, 2 or 5 times a power of ten: at most eight of them.
    private String timeAxis() {
        double rough = Math.max(1, nanos) / 8.0;
        double power = Math.pow(10, Math.floor(Math.log10(rough)));
        double step = power * (rough <= power ? 1 : rough <= 2 * power ? 2 : rough <= 5 * power ? 5 : 10);
        int unit = (int) Math.clamp(Math.floor(Math.log10(Math.max(1, nanos)) / 3), 0, 3);
        double scale = Math.pow(1000, unit);
        int digits = (int) Math.max(0, -Math.floor(Math.log10(step / scale) + 1e-9));
        StringBuilder axis = new StringBuilder("<div class=\"x\">");
        for (int i = 0; i * step <= nanos; i++) {
            double part = i * step / Math.max(1, nanos);
            axis.append(ReportHtml.format("<span class=\"%s%s\" style=\"left:%.2f%%\">%s %s</span>", part > 0.97 ? "end " : "", i % 2 == 1 ? "minor" : "",
                    100 * part, String.format(Locale.ROOT, "%." + digits + "f", i * step / scale), new String[] {"ns", "µs", "ms", "s"}[unit]));
        }
        return axis.append("</div>").toString();
    }
}
