package sluice.trace.report.output;

import static sluice.trace.report.output.ReportUnits.count;
import static sluice.trace.report.output.ReportUnits.part;
import static sluice.trace.report.output.ReportUnits.time;

import java.util.Arrays;
import sluice.region.limits.Size;
import sluice.trace.report.ReportData;

/// The parts of the page that are about one GPU.
final class ReportGpuHtml {
    private static final int SHARE_BINS = 128;
    private static final long SECOND = 1_000_000_000;

    private final ReportData data;
    private final ReportData.Gpu gpu;
    private final StringBuilder html = new StringBuilder();

    ReportGpuHtml(ReportData data, ReportData.Gpu gpu) {
        this.data = data;
        this.gpu = gpu;
    }

    private String title(String what) {
        return "<section><h2>" + what + (data.gpus().size() > 1 ? ", GPU " + gpu.index() : "") + "</h2>\n";
    }

    String idle() {
        html.append(title("When the GPU did nothing, and why")).append("<p class=\"says\">Of ").append(time(data.nanos())).append(" the GPU worked ")
                .append(time(gpu.busyNanos())).append(" for this job. The bar shows where the other ").append(time(gpu.idleNanos()))
                .append(" went. Below it are the gaps between batches of work, by length, and the longest of them.</p>\n<div class=\"stack\" role=\"img\" aria-label=\"Idle time by cause, as in the table\">");
        gpu.idle().forEach(idle -> html.append(ReportHtml.format("<i style=\"width:%.2f%%;background:var(--%s)\" title=\"%s\"></i>",
                100.0 * idle.nanos() / Math.max(1, gpu.idleNanos()), idle.cause().word(), ReportHtml.escaped(idle.cause().text() + " " + time(idle.nanos())))));
        html.append("</div>\n");
        causes();
        html.append("<div class=\"two\"><div><h3>Gaps by length</h3>");
        lengths();
        html.append("</div><div><h3>Longest gaps</h3>");
        longest();
        return html.append("</div></div></section>\n").toString();
    }

    private void causes() {
        ReportTable table = new ReportTable().column("Likely cause", "left").column("Time").column("Of idle time").column("Of the trace", "small").column("", "left small");
        for (ReportData.Idle idle : gpu.idle()) {
            table.html("<i class=\"key\" style=\"background:var(--" + idle.cause().word() + ")\"></i>" + idle.cause().text())
                    .cell(time(idle.nanos()), idle.nanos()).cell(part(idle.nanos(), gpu.idleNanos()), idle.nanos())
                    .cell(part(idle.nanos(), data.nanos()), idle.nanos()).html("<span class=\"says\">" + idle.cause().meaning() + "</span>").end();
        }
        table.text("All idle time").cell(time(gpu.idleNanos()), gpu.idleNanos()).text(part(gpu.idleNanos(), gpu.idleNanos()))
                .text(part(gpu.idleNanos(), data.nanos())).text("").foot();
        html.append(table.html());
    }

    private void lengths() {
        ReportTable table = new ReportTable().column("Length of gap", "left").column("Gaps").column("Time in them").column("", "left");
        long most = gpu.gapLengths().stream().mapToLong(ReportData.GapLength::nanos).max().orElse(0);
        for (ReportData.GapLength length : gpu.gapLengths()) {
            table.text(length.text()).cell(count(length.gaps()), length.gaps()).cell(time(length.nanos()), length.nanos())
                    .html(ReportHtml.format("<span class=\"track\" style=\"width:90px;height:8px;margin:0\"><i style=\"width:%.1f%%;background:var(--call)\"></i></span>",
                            100.0 * length.nanos() / Math.max(1, most))).end();
        }
        html.append(table.html());
    }

    private void longest() {
        ReportTable table = new ReportTable().column("At", "left").column("Length").column("Likely cause", "left");
        gpu.longestGaps().stream().limit(7).forEach(gap -> table
                .html("<a href=\"#timeline\" data-look=\"" + gap.beginNanos() + " " + gap.nanos() + "\">" + time(gap.beginNanos()) + "</a>")
                .cell(time(gap.nanos()), gap.nanos())
                .html("<i class=\"key\" style=\"background:var(--" + gap.cause().word() + ")\"></i>" + gap.cause().text()
                        + (gap.causeNanos() < gap.nanos() * 0.95 ? " (" + part(gap.causeNanos(), gap.nanos()) + ")" : "")).end());
        html.append(table.html());
    }

    String share() {
        double[] got = share(gpu.timeline().busy());
        html.append(title(gpu.askedPermille() > 0 ? "Share got, against share asked for" : "Share of the GPU’s time")).append("<p class=\"says\">The part of the GPU’s time that the job had, ")
                .append(data.nanos() > 3 * SECOND ? "moment by moment (light) and over the last second (line). " : "moment by moment. ");
        if (gpu.askedPermille() > 0) {
            html.append("It asked for at most ").append(ReportUnits.permille(gpu.askedPermille())).append(" and had ").append(part(gpu.busyNanos(), data.nanos())).append(" over the whole trace. ");
        }
        if (gpu.turns().count() > 0) {
            html.append("It held the turn ").append(ReportUnits.some(gpu.turns().count(), "time")).append(", for ").append(part(gpu.turns().nanos(), data.nanos())).append(" of the trace");
            html.append(gpu.weight() > 1 ? ", at weight " + gpu.weight() + "." : ".");
        }
        html.append("</p>\n");
        ReportPlot plot = new ReportPlot("share" + gpu.index(), data.nanos(), 1);
        plot.area(got, "busy", data.nanos() > 3 * SECOND ? 0.32 : 0.6);
        if (data.nanos() > 3 * SECOND) {
            plot.line(overSecond(), "busy");
        }
        if (gpu.askedPermille() > 0) {
            plot.level(gpu.askedPermille() / 1000.0, "cap", "asked for " + ReportUnits.permille(gpu.askedPermille()));
        }
        return html.append(plot.html(new double[] {0, 0.25, 0.5, 0.75, 1}, new String[] {"0 %", "25 %", "50 %", "75 %", "100 %"}))
                .append("<p class=\"axis\">part of the GPU’s time, over time since the begin of the trace</p></section>\n").toString();
    }

    private double[] share(long[] bins) {
        return Arrays.stream(ReportJson.folded(bins, SHARE_BINS)).mapToDouble(nanos -> (double) nanos * SHARE_BINS / Math.max(1, data.nanos())).toArray();
    }

    /// The mean over the second that ends with each bin, once a second has passed.
    private double[] overSecond() {
        double[] fine = Arrays.stream(ReportJson.folded(gpu.timeline().busy(), SHARE_BINS * 4)).asDoubleStream().toArray();
        double binNanos = (double) data.nanos() / fine.length;
        int window = (int) Math.max(1, Math.round(SECOND / binNanos));
        double[] mean = new double[fine.length];
        double sum = 0;
        for (int i = 0; i < fine.length; i++) {
            sum += fine[i] - (i >= window ? fine[i - window] : 0);
            mean[i] = i + 1 < window ? -1 : sum / (window * binNanos);
        }
        return mean;
    }

    String memory() {
        html.append(title("Memory over time")).append("<p class=\"says\">Device memory that the job held, by Sluice’s ledger: at most ")
                .append(Size.format(gpu.peakBytes())).append(", ").append(time(gpu.peakAtNanos())).append(" after the begin, and ").append(Size.format(gpu.lastBytes()))
                .append(" at the end.</p>\n");
        double top = ceiling(gpu.peakBytes());
        double[] bytes = Arrays.stream(gpu.memory()).asDoubleStream().toArray();
        ReportPlot plot = new ReportPlot("memory" + gpu.index(), data.nanos(), top).area(bytes, "copy", 0.45)
                .note(gpu.peakAtNanos(), gpu.peakBytes(), "peak " + Size.format(gpu.peakBytes()));
        double[] ticks = {0, top / 4, top / 2, top * 3 / 4, top};
        return html.append(plot.html(ticks, Arrays.stream(ticks).mapToObj(tick -> Size.format((long) tick).replace(".0 ", " ")).toArray(String[]::new)))
                .append("<p class=\"axis\">bytes in use, over time since the begin of the trace</p></section>\n").toString();
    }

    /// Some room above the peak, up to four times a power of two.
    private static double ceiling(long peak) {
        double step = 1024;
        while (step * 4 < peak * 1.1) {
            step *= 2;
        }
        return step * 4;
    }
}
