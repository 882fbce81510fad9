package sluice.proof.bench;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Locale;

/// Lines over two axes with a legend, as one SVG file that needs nothing else.
public final class Chart {
    private static final List<String> COLOURS = List.of("#1f6f8b", "#c8553d", "#588157", "#8e6c8a", "#e09f3e", "#335c67", "#9e2a2b", "#606c38");
    private static final List<String> DASHES = List.of("", "6 3", "2 3");
    private static final int LEFT = 60;
    private static final int TOP = 40;
    private static final int WIDTH = 640;
    private static final int HEIGHT = 320;
    private static final int LEGEND = 340;
    private static final int LEGEND_ROW = 18;
    private static final int TICKS = 6;

    /// A line, point by point.
    public static final class Series {
        private final String name;
        private final List<double[]> points = new ArrayList<>();

        public Series(String name) {
            this.name = name;
        }

        public Series add(double x, double y) {
            points.add(new double[] {x, y});
            return this;
        }
    }

    private final String title;
    private final String xName;
    private final String yName;
    private final List<Series> lines = new ArrayList<>();
    private final StringBuilder svg = new StringBuilder();
    private boolean logarithmic;
    private double left;
    private double right;
    private double bottom;
    private double top;

    public Chart(String title, String xName, String yName) {
        this.title = title;
        this.xName = xName;
        this.yName = yName;
    }

    /// With powers of ten on the horizontal axis.
    public Chart logarithmic() {
        logarithmic = true;
        return this;
    }

    public Chart lines(Collection<Series> more) {
        more.stream().filter(line -> !line.points.isEmpty()).forEach(lines::add);
        return this;
    }

    public String svg() {
        measure();
        int height = Math.max(TOP + HEIGHT + 50, TOP + LEGEND_ROW * lines.size() + 20);
        append("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" font-family=\"sans-serif\" font-size=\"12\">%n",
                LEFT + WIDTH + LEGEND, height);
        append("<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>%n");
        append("<text x=\"12\" y=\"20\" font-weight=\"bold\" font-size=\"14\">%s</text>%n", escaped(title));
        axes();
        for (int i = 0; i < lines.size(); i++) {
            line(lines.get(i), i);
        }
        return svg.append("</svg>\n").toString();
    }

    private void measure() {
        left = lines.stream().flatMap(line -> line.points.stream()).mapToDouble(point -> scaled(point[0])).min().orElse(0);
        right = lines.stream().flatMap(line -> line.points.stream()).mapToDouble(point -> scaled(point[0])).max().orElse(1);
        double least = lines.stream().flatMap(line -> line.points.stream()).mapToDouble(point -> point[1]).min().orElse(0);
        double most = lines.stream().flatMap(line -> line.points.stream()).mapToDouble(point -> point[1]).max().orElse(1);
        double step = step(Math.max(most, 0) - Math.min(least, 0));
        bottom = Math.floor(Math.min(least, 0) / step) * step;
        top = Math.max(Math.ceil(most / step) * step, bottom + step);
        right = right > left ? right : left + 1;
    }

    private void axes() {
        for (double y = bottom; y <= top + 1e-9; y += step(top - bottom)) {
            append("<line x1=\"%d\" x2=\"%d\" y1=\"%3$.1f\" y2=\"%3$.1f\" stroke=\"%4$s\"/>%n", LEFT, LEFT + WIDTH, y(y), Math.abs(y) < 1e-9 ? "#333" : "#ddd");
            append("<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\" fill=\"#666\">%s</text>%n", LEFT - 6, y(y) + 4, plain(y));
        }
        double step = logarithmic ? 1 : step(right - left);
        for (double x = Math.ceil(left / step - 1e-9) * step; x <= right + 1e-9; x += step) {
            append("<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\" fill=\"#666\">%s</text>%n",
                    LEFT + WIDTH * (x - left) / (right - left), TOP + HEIGHT + 18, plain(logarithmic ? Math.pow(10, x) : x));
        }
        append("<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">%s</text>%n", LEFT + WIDTH / 2, TOP + HEIGHT + 38, escaped(xName));
        append("<text x=\"%d\" y=\"%d\">%s</text>%n", LEFT - 40, TOP - 8, escaped(yName));
    }

    private void line(Series line, int number) {
        String colour = COLOURS.get(number % COLOURS.size());
        String dash = DASHES.get(number / COLOURS.size() % DASHES.size());
        append("<polyline fill=\"none\" stroke=\"%s\" stroke-width=\"1.5\" stroke-dasharray=\"%s\" points=\"", colour, dash);
        line.points.forEach(point -> append("%.1f,%.1f ", x(point[0]), y(point[1])));
        append("\"/>%n");
        if (line.points.size() <= 10) {
            line.points.forEach(point -> append("<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3\" fill=\"%s\"/>%n", x(point[0]), y(point[1]), colour));
        }
        int y = TOP + LEGEND_ROW * number;
        append("<line x1=\"%d\" x2=\"%d\" y1=\"%3$d\" y2=\"%3$d\" stroke=\"%4$s\" stroke-width=\"3\" stroke-dasharray=\"%5$s\"/>%n",
                LEFT + WIDTH + 16, LEFT + WIDTH + 40, y, colour, dash);
        append("<text x=\"%d\" y=\"%d\">%s</text>%n", LEFT + WIDTH + 46, y + 4, escaped(line.name));
    }

    private double scaled(double x) {
        return logarithmic ? Math.log10(x) : x;
    }

    private double x(double value) {
        return LEFT + WIDTH * (scaled(value) - left) / (right - left);
    }

    private double y(double value) {
        return TOP + HEIGHT - HEIGHT * (value - bottom) / (top - bottom);
    }

    /// 1, 2 or 5 times a power of ten, so that a handful of them make the range.
    private static double step(double range) {
        double rough = range > 0 ? range / TICKS : 1;
        double power = Math.pow(10, Math.floor(Math.log10(rough)));
        double part = rough / power;
        return power * (part <= 1 ? 1 : part <= 2 ? 2 : part <= 5 ? 5 : 10);
    }

    private static String plain(double value) {
        return Math.abs(value - Math.rint(value)) < 1e-9 ? String.format(Locale.ROOT, "%.0f", value) : String.format(Locale.ROOT, "%.2f", value);
    }

    private void append(String format, Object... values) {
        svg.append(String.format(Locale.ROOT, format, values));
    }

    private static String escaped(String text) {
        return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;");
    }
}
