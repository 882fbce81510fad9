package sluice.trace.report.output;

import static sluice.trace.report.output.ReportTree.object;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import sluice.trace.report.ReportCause;
import sluice.trace.report.ReportData;
import sluice.trace.report.ReportKind;

/// The data for the page's script: bins as one letter each, and the longest spans.
final class ReportPageData {
    private static final String LETTERS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-_";
    private static final int THREADS = 8;

    private final ReportData data;
    private final Map<String, Integer> names = new LinkedHashMap<>();

    private ReportPageData(ReportData data) {
        this.data = data;
    }

    static String of(ReportData data) {
        return ReportTree.compact(new ReportPageData(data).tree());
    }

    private Object tree() {
        List<Object> gpus = new ArrayList<>();
        Map<String, Object> charts = new LinkedHashMap<>();
        for (ReportData.Gpu gpu : data.gpus()) {
            gpus.add(gpu(gpu));
            charts.put("share" + gpu.index(), List.of(object("text", "had", "unit", "permille", "values", permille(gpu.timeline().busy(), 128))));
            charts.put("memory" + gpu.index(), List.of(object("text", "in use", "unit", "bytes", "values", gpu.memory())));
        }
        List<Object> threads = new ArrayList<>();
        data.threads().stream().filter(thread -> thread.calls() > 0 || !thread.ranges().isEmpty()).limit(THREADS).forEach(thread -> threads.add(thread(thread)));
        return object("nanos", data.nanos(), "kinds", Arrays.stream(ReportKind.values()).map(ReportKind::word).toList(), "gpus", gpus, "threads", threads,
                "charts", charts, "names", List.copyOf(names.keySet()));
    }

    private Object gpu(ReportData.Gpu gpu) {
        List<Object> layers = new ArrayList<>();
        if (gpu.measured()) {
            layers.add(layer("busy", "busy", gpu.timeline().busy()));
            for (ReportCause cause : ReportCause.values()) {
                if (gpu.idle().stream().anyMatch(idle -> idle.cause() == cause)) {
                    layers.add(layer(cause.word(), cause.text(), gpu.timeline().idle().get(cause)));
                }
            }
        }
        return object("label", "GPU " + gpu.index(), "layers", layers, "turn", gpu.turns().count() == 0 ? null : letters(gpu.timeline().turn()),
                "gaps", gpu.longestGaps().stream().map(gap -> List.of(gap.beginNanos(), gap.nanos(), gap.cause().text())).toList());
    }

    private Object thread(ReportData.ThreadLine thread) {
        List<Object> layers = new ArrayList<>();
        for (ReportKind kind : ReportKind.values()) {
            long[] bins = thread.kinds().get(kind);
            if (Arrays.stream(bins).anyMatch(nanos -> nanos > 0)) {
                layers.add(layer(kind.word(), kind.text(), bins));
            }
        }
        String label = thread.name().isEmpty() ? "thread " + thread.tid() : ReportUnits.visible(thread.name());
        return object("label", label, "layers", layers, "spans", spans(thread.longest()), "ranges", spans(thread.ranges()));
    }

    private List<Object> spans(List<ReportData.Span> spans) {
        List<Object> list = new ArrayList<>();
        for (ReportData.Span span : spans) {
            int name = names.computeIfAbsent(ReportUnits.cut(ReportNames.readable(span.name()), 140), text -> names.size());
            list.add(new long[] {span.beginNanos(), span.nanos(), name, span.kind().ordinal(), span.depth()});
        }
        return list;
    }

    private Object layer(String word, String text, long[] bins) {
        return object("word", word, "text", text, "bins", letters(bins));
    }

    private String letters(long[] bins) {
        StringBuilder letters = new StringBuilder(bins.length);
        double full = Math.max(1, (double) data.nanos() / bins.length);
        for (long value : bins) {
            letters.append(LETTERS.charAt(Math.clamp(Math.round(value / full * 63), value > 0 ? 1 : 0, 63)));
        }
        return letters.toString();
    }

    private long[] permille(long[] bins, int size) {
        return Arrays.stream(ReportJson.folded(bins, size)).map(nanos -> Math.round(1000.0 * nanos * size / Math.max(1, data.nanos()))).toArray();
    }
}
