package sluice.trace.report.output;

import static sluice.trace.report.output.ReportUnits.count;
import static sluice.trace.report.output.ReportUnits.part;
import static sluice.trace.report.output.ReportUnits.time;

import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import sluice.region.limits.Size;
import sluice.trace.report.ReportData;

/// The report for a terminal.
public final class ReportText {
    private static final int ROWS = 15;
    private static final int WIDTH = 100;
    private static final int COLUMNS = 64;
    private static final String LEVELS = " ▁▂▃▄▅▆▇█";

    private final ReportData data;
    private final StringBuilder text = new StringBuilder();

    private ReportText(ReportData data) {
        this.data = data;
    }

    public static String of(ReportData data) {
        return new ReportText(data).write();
    }

    /// A few lines, as at the head of the page.
    public static List<String> summary(ReportData data) {
        List<String> lines = new ArrayList<>(ReportWords.headline(data));
        ReportWords.drops(data).ifPresent(drops -> lines.add("DROPPED: " + drops));
        data.damage().forEach(damage -> lines.add("DAMAGED: " + ReportUnits.visible(damage.text()) + "."));
        return lines;
    }

    private String write() {
        line(ReportWords.title(data));
        data.processes().forEach(process -> line("  " + process.pid() + "  " + ReportUnits.cut(ReportUnits.visible(process.command()), WIDTH - 12)));
        line("  " + DateTimeFormatter.ISO_LOCAL_DATE_TIME.format(data.began().truncatedTo(ChronoUnit.SECONDS).atZone(ZoneId.systemDefault()))
                + ", " + time(data.nanos()) + ", " + count(data.events()) + " events");
        line("");
        summary(data).forEach(this::line);
        data.gpus().forEach(this::gpu);
        calls();
        kernels();
        waits();
        copies();
        failures();
        ranges();
        threads();
        return text.toString();
    }

    private void gpu(ReportData.Gpu gpu) {
        head(ReportWords.gpu(gpu));
        if (!gpu.measured()) {
            line(ReportWords.NOT_MEASURED);
        } else {
            line("busy    " + levels(gpu.timeline().busy(), data.nanos() / COLUMNS) + "  " + part(gpu.busyNanos(), data.nanos()) + " = " + time(gpu.busyNanos()));
        }
        if (gpu.turns().count() > 0) {
            line("turn    " + levels(gpu.timeline().turn(), data.nanos() / COLUMNS) + "  " + part(gpu.turns().nanos(), data.nanos()) + " held");
        }
        if (gpu.peakBytes() >= 0) {
            line("memory  " + memory(gpu) + "  peak " + Size.format(gpu.peakBytes()) + " at " + time(gpu.peakAtNanos()));
        }
        if (!gpu.idle().isEmpty()) {
            idle(gpu);
        }
    }

    private void idle(ReportData.Gpu gpu) {
        ReportColumns table = new ReportColumns("idle time, by likely cause", ">time", ">part");
        gpu.idle().forEach(idle -> table.row(idle.cause().text(), time(idle.nanos()), part(idle.nanos(), gpu.idleNanos())));
        table.row("all idle time", time(gpu.idleNanos()), part(gpu.idleNanos(), gpu.idleNanos()));
        table(table);
        ReportColumns gaps = new ReportColumns("longest gaps: at", ">length", "likely cause");
        gpu.longestGaps().stream().limit(8).forEach(gap -> gaps.row(time(gap.beginNanos()), time(gap.nanos()),
                gap.cause().text() + " (" + part(gap.causeNanos(), gap.nanos()) + ")"));
        table(gaps);
    }

    private void calls() {
        if (data.calls().isEmpty()) {
            return;
        }
        head("Driver calls");
        ReportColumns table = new ReportColumns(">calls", ">failed", ">time", ">waited", ">median", ">longest", "function");
        List<ReportData.Call> first = data.calls().stream().limit(ROWS).toList();
        first.forEach(call -> row(table, call));
        List<ReportData.Call> rest = data.calls().stream().skip(ROWS).toList();
        if (!rest.isEmpty()) {
            table.row(count(rest.stream().mapToLong(call -> call.times().count()).sum()), count(rest.stream().mapToLong(ReportData.Call::failed).sum()),
                    time(rest.stream().mapToLong(call -> call.times().nanos()).sum()), time(rest.stream().mapToLong(ReportData.Call::waitedNanos).sum()),
                    "", "", ReportUnits.some(rest.size(), "other"));
        }
        table.row(count(data.callCount()), count(data.failedCalls()), time(data.callNanos()),
                time(data.calls().stream().mapToLong(ReportData.Call::waitedNanos).sum()), "", "", "all");
        table(table);
    }

    private static void row(ReportColumns table, ReportData.Call call) {
        table.row(count(call.times().count()), count(call.failed()), time(call.times().nanos()), call.waitedNanos() == 0 ? ReportUnits.UNKNOWN : time(call.waitedNanos()),
                time(call.times().medianNanos()), time(call.times().longestNanos()), ReportUnits.visible(call.function()));
    }

    private void kernels() {
        if (data.kernels().isEmpty()) {
            return;
        }
        head("Kernels");
        ReportColumns table = new ReportColumns(">launches", ">GPU time", ">each", "between", "last grid × block", "name");
        data.kernels().stream().limit(ROWS).forEach(kernel -> table.row(count(kernel.launches()),
                ReportWords.gpuTime(kernel), ReportWords.each(kernel), ReportWords.bounds(kernel),
                kernel.shape(), ReportUnits.cut(ReportNames.readable(kernel.name()), 60)));
        List<ReportData.Kernel> rest = data.kernels().stream().skip(ROWS).toList();
        if (!rest.isEmpty()) {
            table.row(count(rest.stream().mapToLong(ReportData.Kernel::launches).sum()),
                    time(rest.stream().mapToLong(ReportData.Kernel::gpuNanos).sum()), "", "", "", ReportUnits.some(rest.size(), "other"));
        }
        table.row(count(data.launches()), time(data.kernels().stream().mapToLong(ReportData.Kernel::gpuNanos).sum()), "", "", "", "all");
        table(table);
        ReportWords.estimates(data).ifPresent(says -> line("  " + says));
    }

    private void waits() {
        if (data.waits().isEmpty()) {
            return;
        }
        head("Waits at the gate");
        ReportColumns table = new ReportColumns(">waits", ">time", ">median", ">longest", "for");
        data.waits().forEach(wait -> table.row(count(wait.times().count()), time(wait.times().nanos()), time(wait.times().medianNanos()),
                time(wait.times().longestNanos()), wait.cause().text()));
        table(table);
    }

    private void copies() {
        if (data.copies().isEmpty()) {
            return;
        }
        head("Copies and fills");
        ReportColumns table = new ReportColumns(">calls", ">bytes", ">host time", "direction");
        data.copies().forEach(copy -> table.row(count(copy.calls()), Size.format(copy.bytes()), time(copy.nanos()), copy.direction().text()));
        table(table);
    }

    private void failures() {
        if (data.failures().isEmpty()) {
            return;
        }
        head("Calls that failed");
        ReportColumns table = new ReportColumns(">calls", ">status", "function");
        data.failures().stream().limit(ROWS).forEach(failure -> table.row(count(failure.calls()), Integer.toString(failure.status()), ReportUnits.visible(failure.function())));
        table(table);
    }

    private void ranges() {
        if (data.ranges().isEmpty()) {
            return;
        }
        head("Ranges named by the program (NVTX)");
        ReportColumns table = new ReportColumns(">count", ">time", ">median", ">longest", "name");
        data.ranges().stream().limit(ROWS).forEach(range -> table.row(count(range.times().count()), time(range.times().nanos()), time(range.times().medianNanos()),
                time(range.times().longestNanos()), ReportUnits.cut(ReportUnits.visible(range.name()), 60)));
        table(table);
    }

    private void threads() {
        if (data.threads().isEmpty()) {
            return;
        }
        head("Threads");
        ReportColumns table = new ReportColumns(">process", ">thread", ">calls", ">time", ">dropped", "name");
        data.threads().forEach(thread -> table.row(Integer.toString(thread.pid()), Integer.toString(thread.tid()), count(thread.calls()), time(thread.nanos()),
                count(thread.dropped()), ReportUnits.visible(thread.name())));
        table(table);
    }

    private static String levels(long[] bins, long full) {
        StringBuilder levels = new StringBuilder();
        for (long value : ReportJson.folded(bins, COLUMNS)) {
            levels.append(level(value, full));
        }
        return levels.toString();
    }

    private static String memory(ReportData.Gpu gpu) {
        StringBuilder levels = new StringBuilder();
        for (long value : ReportJson.most(gpu.memory(), COLUMNS)) {
            levels.append(level(Math.max(0, value), gpu.peakBytes()));
        }
        return levels.toString();
    }

    /// The lowest level is for nothing at all.
    private static char level(long value, long full) {
        int top = LEVELS.length() - 1;
        return LEVELS.charAt(value <= 0 ? 0 : Math.clamp(Math.round((double) value / Math.max(1, full) * top), 1, top));
    }

    private void head(String title) {
        line("");
        line(title);
    }

    private void table(ReportColumns table) {
        table.lines().forEach(row -> line("  " + row));
    }

    private void line(String line) {
        text.append(line.stripTrailing()).append('\n');
    }
}
