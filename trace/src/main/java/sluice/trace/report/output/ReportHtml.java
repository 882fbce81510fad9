package sluice.trace.report.output;

import static sluice.trace.report.output.ReportUnits.count;
import static sluice.trace.report.output.ReportUnits.part;
import static sluice.trace.report.output.ReportUnits.time;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import sluice.region.limits.Size;
import sluice.trace.report.ReportCause;
import sluice.trace.report.ReportData;
import sluice.trace.report.ReportKind;

/// The report as one page that needs no other file. Another user may have chosen the names in a trace: every text is escaped, and the page
/// forbids all scripts but its own.
public final class ReportHtml {
    private final ReportData data;
    private final StringBuilder html = new StringBuilder();

    private ReportHtml(ReportData data) {
        this.data = data;
    }

    public static String of(ReportData data) {
        return new ReportHtml(data).write();
    }

    static String escaped(String text) {
        return ReportUnits.visible(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace("\"", "&quot;").replace("'", "&#39;");
    }

    static String format(String format, Object... values) {
        return String.format(Locale.ROOT, format, values);
    }

    private String write() {
        String script = resource("report.js");
        html.append("<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n")
                .append("<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; script-src '")
                .append(digest(script)).append("'\">\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<link rel=\"icon\" href=\"data:,\">\n")
                .append("<title>").append(escaped(ReportWords.title(data))).append(" – Sluice report</title>\n<style>\n")
                .append(resource("report.css")).append("</style></head>\n<body><main>\n");
        header();
        if (data.events() > 0) {
            timeline();
            data.gpus().stream().filter(ReportData.Gpu::measured).forEach(gpu -> html.append(new ReportGpuHtml(data, gpu).idle()));
            data.gpus().stream().filter(ReportData.Gpu::measured).forEach(gpu -> html.append(new ReportGpuHtml(data, gpu).share()));
            data.gpus().stream().filter(gpu -> gpu.peakBytes() >= 0).forEach(gpu -> html.append(new ReportGpuHtml(data, gpu).memory()));
            html.append(new ReportTablesHtml(data).html());
        }
        footer();
        return html.append("</main>\n<script type=\"application/json\" id=\"data\">").append(ReportPageData.of(data)).append("</script>\n<script>")
                .append(script).append("</script>\n</body></html>\n").toString();
    }

    private void header() {
        html.append("<header><p class=\"eyebrow\">Sluice report</p>\n<h1>").append(escaped(ReportWords.title(data))).append("</h1>\n<p class=\"lede\">")
                .append(ReportWords.headline(data).stream().map(ReportHtml::escaped).collect(Collectors.joining(" "))).append("</p>\n<p class=\"meta\">")
                .append(DateTimeFormatter.ofPattern("d MMMM yyyy, HH:mm:ss", Locale.ENGLISH).format(data.began().atZone(ZoneId.systemDefault())))
                .append(" · ").append(time(data.nanos())).append(" · ").append(ReportUnits.some(data.events(), "event")).append(" · ")
                .append(data.processes().size() == 1 ? "1 process" : data.processes().size() + " processes");
        data.processes().stream().limit(5).forEach(process -> html.append("<br>").append(process.pid()).append(" <code>")
                .append(escaped(ReportUnits.cut(process.command(), 200))).append("</code>"));
        html.append("</p>\n");
        ReportWords.drops(data).ifPresent(drops -> html.append("<p class=\"warn\"><b>Dropped:</b> ").append(escaped(drops)).append("</p>\n"));
        data.damage().forEach(damage -> html.append("<p class=\"warn\"><b>Damaged:</b> ").append(escaped(ReportUnits.visible(damage.text()))).append(".</p>\n"));
        if (data.events() > 0) {
            tiles();
        }
        html.append("</header>\n");
    }

    private void tiles() {
        html.append("<div class=\"tiles\">");
        for (ReportData.Gpu gpu : data.gpus()) {
            tile(gpu.measured() ? part(gpu.busyNanos(), data.nanos()) : ReportUnits.UNKNOWN, "GPU " + gpu.index() + " busy"
                    + (gpu.askedPermille() > 0 ? ", cap " + ReportUnits.permille(gpu.askedPermille()) : ""));
            if (gpu.peakBytes() >= 0) {
                tile(Size.format(gpu.peakBytes()), "most memory in use" + (data.gpus().size() > 1 ? " on GPU " + gpu.index() : ""));
            }
        }
        tile(count(data.launches()), "kernel launches");
        tile(count(data.callCount()), "driver calls" + (data.failedCalls() > 0 ? ", " + count(data.failedCalls()) + " failed" : ", none failed"));
        tile(Size.format(data.copiedBytes()), "copied or filled");
        tile(time(data.waitedNanos()), "waited at the gate");
        tile(count(data.dropped()), "events dropped");
        html.append("</div>\n");
    }

    private void tile(String value, String meaning) {
        html.append("<div class=\"tile\"><b>").append(escaped(value)).append("</b><span>").append(escaped(meaning)).append("</span></div>");
    }

    private void timeline() {
        html.append("<section><h2>Timeline</h2>\n<p class=\"says\">")
                .append(data.gpus().stream().anyMatch(ReportData.Gpu::measured)
                        ? "Each column of a GPU is a moment of the trace, and its colours are how that time was spent: working for this job, or not, and why. " : "")
                .append("Below are the threads: the part of each moment that they spent in driver calls, and their longest calls one by one. ")
                .append("Drag over a span, or pinch, to look closer.</p>\n<div class=\"legend\">");
        List<String[]> keys = new ArrayList<>();
        if (data.gpus().stream().anyMatch(ReportData.Gpu::measured)) {
            keys.add(new String[] {"busy", "GPU busy"});
            for (ReportCause cause : ReportCause.values()) {
                if (data.gpus().stream().anyMatch(gpu -> gpu.idle().stream().anyMatch(idle -> idle.cause() == cause))) {
                    keys.add(new String[] {cause.word(), cause.text()});
                }
            }
        }
        for (ReportKind kind : ReportKind.values()) {
            boolean there = data.threads().stream().anyMatch(thread -> Arrays.stream(thread.kinds().get(kind)).anyMatch(nanos -> nanos > 0));
            if (there && keys.stream().noneMatch(key -> key[0].equals(kind.word()))) {
                keys.add(new String[] {kind.word(), kind.text()});
            }
        }
        if (data.gpus().stream().anyMatch(gpu -> gpu.turns().count() > 0)) {
            keys.add(new String[] {"held", "turn held"});
        }
        keys.forEach(key -> html.append("<span><i class=\"key\" style=\"background:var(--").append(key[0]).append(")\"></i>").append(escaped(key[1])).append("</span>"));
        html.append("</div>\n<div class=\"timeline\" id=\"timeline\"><div class=\"bar\">");
        for (String[] button : new String[][] {{"all", "All"}, {"in", "Closer"}, {"out", "Further"}, {"left", "←"}, {"right", "→"}}) {
            html.append("<button type=\"button\" data-do=\"").append(button[0]).append("\">").append(button[1]).append("</button>");
        }
        html.append("<span></span></div><canvas tabindex=\"0\" role=\"img\" aria-label=\"Timeline; its numbers are in the tables below\"></canvas><div class=\"tip\"></div></div>\n")
                .append("<noscript><p class=\"warn\">The timeline is drawn by a script, which is switched off. All else works without.</p></noscript>\n</section>\n");
    }

    private void footer() {
        html.append("<footer><p>Times of calls are those on the host, from call to return. When a GPU was busy comes from batches that Sluice measured on the GPU; ")
                .append("“idle” means that it did nothing for this job, whatever it did for others. Causes of idle time are likely ones: where several things went on at once, ")
                .append("waits at Sluice’s gate are named first, then copies, then other calls. Kernel times are what Sluice learnt from single launches, not a measurement of each. ")
                .append("For every single event, make a Perfetto trace of the same folder with <code>sluice trace convert</code>.</p>");
        data.processes().stream().filter(process -> !process.library().isEmpty() || !process.driver().isEmpty()).findFirst().ifPresent(process ->
                html.append("<p>Library ").append(escaped(process.library())).append(", driver ").append(escaped(process.driver())).append(".</p>"));
        html.append("</footer>\n");
    }

    static String resource(String name) {
        try (InputStream in = ReportHtml.class.getResourceAsStream(name)) {
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static String digest(String script) {
        try {
            return "sha256-" + Base64.getEncoder().encodeToString(MessageDigest.getInstance("SHA-256").digest(script.getBytes(StandardCharsets.UTF_8)));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
    }
}
