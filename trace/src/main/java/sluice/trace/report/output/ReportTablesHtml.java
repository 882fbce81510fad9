package sluice.trace.report.output;

import static sluice.trace.report.output.ReportUnits.count;
import static sluice.trace.report.output.ReportUnits.part;
import static sluice.trace.report.output.ReportUnits.time;

import sluice.region.limits.Size;
import sluice.trace.report.ReportData;
import sluice.trace.report.ReportKind;

/// The tables of the page that are about the whole job.
final class ReportTablesHtml {
    private final ReportData data;
    private final StringBuilder html = new StringBuilder();

    ReportTablesHtml(ReportData data) {
        this.data = data;
    }

    String html() {
        kernels();
        calls();
        ranges();
        if (!data.waits().isEmpty() || !data.copies().isEmpty()) {
            html.append("<div class=\"two\">");
            copies();
            waits();
            html.append("</div>");
        }
        failures();
        threads();
        return html.toString();
    }

    private void head(String title, String says) {
        html.append("<section><h2>").append(title).append("</h2>\n<p class=\"says\">").append(says).append("</p>\n");
    }

    private void kernels() {
        if (data.kernels().isEmpty()) {
            return;
        }
        long busy = data.gpus().stream().mapToLong(ReportData.Gpu::busyNanos).sum();
        long learnt = data.kernels().stream().mapToLong(ReportData.Kernel::gpuNanos).sum();
        long whole = Math.max(busy, learnt);
        long most = data.kernels().stream().mapToLong(kernel -> learnt > 0 ? kernel.gpuNanos() : kernel.launches()).max().orElse(1);
        head("Kernels", learnt > 0 ? "What the GPU was busy with: launches of each kernel, and the GPU time that they took, as learnt. The bars compare their times." + ReportWords.estimates(data).map(says -> " " + says).orElse("")
                : "How often each kernel was launched; how long they took was not learnt. The bars compare their launches.");
        ReportTable table = new ReportTable().column("Kernel", "left").column("Launches").column("GPU time").column("Of GPU time", "small").column("Each", "small").column("Between", "small")
                .column("Last grid × block", "small");
        for (ReportData.Kernel kernel : data.kernels()) {
            String readable = ReportNames.readable(kernel.name());
            table.name(ReportUnits.cut(readable, 140), readable.equals(kernel.name()) ? "" : ReportUnits.cut(kernel.name(), 110),
                            (double) (learnt > 0 ? kernel.gpuNanos() : kernel.launches()) / Math.max(1, most), "busy")
                    .cell(count(kernel.launches()), kernel.launches())
                    .cell(ReportWords.gpuTime(kernel), kernel.gpuNanos())
                    .cell(kernel.gpuNanos() == 0 ? ReportUnits.UNKNOWN : part(kernel.gpuNanos(), whole), kernel.gpuNanos())
                    .cell(ReportWords.each(kernel), kernel.perLaunch()).text(ReportWords.bounds(kernel))
                    .text(kernel.shape()).end();
        }
        table.text("All kernels").cell(count(data.launches()), data.launches()).cell(time(learnt), learnt).text(part(learnt, whole)).text("").text("").text("").foot();
        html.append(table.html()).append("</section>\n");
    }

    private void calls() {
        if (data.calls().isEmpty()) {
            return;
        }
        head("Driver calls", "Time that threads spent in each function of the driver, all threads together. “Waited” is the part of it in which Sluice held the call back. The bars compare times.");
        ReportTable table = new ReportTable().column("Function", "left").column("Calls").column("Failed", "small").column("Time").column("Waited").column("Median", "small")
                .column("Slowest 1 %", "small").column("Longest", "small");
        long most = data.calls().getFirst().times().nanos();
        for (ReportData.Call call : data.calls()) {
            ReportData.Times times = call.times();
            table.name(call.function(), "", (double) times.nanos() / Math.max(1, most), ReportKind.of(call.function()).word())
                    .cell(count(times.count()), times.count()).bad(count(call.failed()), call.failed()).cell(time(times.nanos()), times.nanos())
                    .cell(call.waitedNanos() == 0 ? ReportUnits.UNKNOWN : time(call.waitedNanos()), call.waitedNanos())
                    .cell(time(times.medianNanos()), times.medianNanos()).cell(time(times.slowestPercentNanos()), times.slowestPercentNanos())
                    .cell(time(times.longestNanos()), times.longestNanos()).end();
        }
        long waited = data.calls().stream().mapToLong(ReportData.Call::waitedNanos).sum();
        table.text("All calls").cell(count(data.callCount()), data.callCount()).cell(count(data.failedCalls()), data.failedCalls())
                .cell(time(data.callNanos()), data.callNanos()).cell(time(waited), waited).text("").text("").text("").foot();
        html.append(table.html()).append("</section>\n");
    }

    private void ranges() {
        if (data.ranges().isEmpty()) {
            return;
        }
        head("Ranges that the program named", "Spans of the program’s own, from NVTX: how often, and how long on the host. Ranges may lie in one another. The bars compare times.");
        ReportTable table = new ReportTable().column("Range", "left").column("Count").column("Time").column("Median", "small").column("Longest", "small");
        long most = data.ranges().getFirst().times().nanos();
        for (ReportData.Range range : data.ranges()) {
            table.name(ReportUnits.cut(range.name(), 140), "", (double) range.times().nanos() / Math.max(1, most), "range").cell(count(range.times().count()), range.times().count())
                    .cell(time(range.times().nanos()), range.times().nanos()).cell(time(range.times().medianNanos()), range.times().medianNanos())
                    .cell(time(range.times().longestNanos()), range.times().longestNanos()).end();
        }
        html.append(table.html()).append("</section>\n");
    }

    private void copies() {
        if (data.copies().isEmpty()) {
            return;
        }
        head("Copies and fills", "Bytes by direction, and the host’s time in the calls.");
        ReportTable table = new ReportTable().column("Direction", "left").column("Calls").column("Bytes").column("Host time");
        data.copies().forEach(copy -> table.text(copy.direction().text()).cell(count(copy.calls()), copy.calls()).cell(Size.format(copy.bytes()), copy.bytes())
                .cell(time(copy.nanos()), copy.nanos()).end());
        long calls = data.copies().stream().mapToLong(ReportData.Copy::calls).sum();
        long nanos = data.copies().stream().mapToLong(ReportData.Copy::nanos).sum();
        table.text("All").cell(count(calls), calls).cell(Size.format(data.copiedBytes()), data.copiedBytes()).cell(time(nanos), nanos).foot();
        html.append(table.html()).append("</section>\n");
    }

    private void waits() {
        if (data.waits().isEmpty()) {
            return;
        }
        head("Waits at the gate", "How often and how long Sluice held calls back, all threads together.");
        ReportTable table = new ReportTable().column("Reason", "left").column("Waits").column("Time").column("Median", "small").column("Longest");
        data.waits().forEach(wait -> table.html("<i class=\"key\" style=\"background:var(--" + wait.cause().word() + ")\"></i>" + wait.cause().text())
                .cell(count(wait.times().count()), wait.times().count()).cell(time(wait.times().nanos()), wait.times().nanos())
                .cell(time(wait.times().medianNanos()), wait.times().medianNanos()).cell(time(wait.times().longestNanos()), wait.times().longestNanos()).end());
        long waits = data.waits().stream().mapToLong(wait -> wait.times().count()).sum();
        table.text("All").cell(count(waits), waits).cell(time(data.waitedNanos()), data.waitedNanos()).text("").text("").foot();
        html.append(table.html()).append("</section>\n");
    }

    private void failures() {
        if (data.failures().isEmpty()) {
            return;
        }
        head("Calls that failed", "Functions and the status that they returned, as numbered in cuda.h (2 = out of memory).");
        ReportTable table = new ReportTable().column("Function", "left").column("Status").column("Calls");
        data.failures().forEach(failure -> table.html("<code>" + ReportHtml.escaped(failure.function()) + "</code>").cell(Integer.toString(failure.status()), failure.status())
                .cell(count(failure.calls()), failure.calls()).end());
        html.append(table.html()).append("</section>\n");
    }

    private void threads() {
        if (data.threads().isEmpty()) {
            return;
        }
        head("Threads", "The threads with most calls, the time that they spent in them, and what could not be recorded of them.");
        ReportTable table = new ReportTable().column("Thread", "left").column("Process").column("Thread id", "small").column("Calls").column("Time in calls").column("Dropped");
        data.threads().forEach(thread -> table.text(thread.name().isEmpty() ? "(unnamed)" : thread.name()).cell(Integer.toString(thread.pid()), thread.pid())
                .cell(Integer.toString(thread.tid()), thread.tid()).cell(count(thread.calls()), thread.calls()).cell(time(thread.nanos()), thread.nanos())
                .bad(count(thread.dropped()), thread.dropped()).end());
        html.append(table.html()).append("</section>\n");
    }
}
