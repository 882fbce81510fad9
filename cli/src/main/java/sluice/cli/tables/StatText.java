package sluice.cli.tables;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;
import sluice.api.model.EarlierLook;
import sluice.cli.output.Screen;
import sluice.cli.output.Table;
import sluice.cli.output.Text;
import sluice.region.GpuTime;
import sluice.region.Tenant;
import sluice.region.TenantGpu;
import sluice.region.calls.CallCount;
import sluice.region.calls.CallKind;
import sluice.region.calls.TenantCalls;
import sluice.region.calls.Traffic;
import sluice.region.limits.Size;

/// A tenant's counters for people.
public final class StatText {
    private final Tenant tenant;
    private final TenantCalls calls;
    private final Screen screen;
    private final List<String> lines = new ArrayList<>();

    private StatText(Tenant tenant, TenantCalls calls, Screen screen) {
        this.tenant = tenant;
        this.calls = calls;
        this.screen = screen;
    }

    /// @param earlier the counters of a while ago, for calls per second; null: there are none
    /// @param top     how many functions; 0: all
    public static List<String> lines(Tenant tenant, TenantCalls calls, TenantCalls earlier, int top, Screen screen) {
        StatText text = new StatText(tenant, calls, screen);
        text.facts();
        text.gpus();
        text.waits();
        text.functions(earlier, top);
        return text.lines;
    }

    private void facts() {
        fact("tenant", tenant.name() + ", " + InspectText.state(tenant.state(), screen));
        fact("command", Text.visible(tenant.command()));
        if (!calls.known()) {
            fact("calls", screen.yellow("not counted: the region was made by a sluice that knows other CUDA functions"));
            return;
        }
        fact("calls", calls.calls() + " of " + calls.counts().size() + " functions in " + Text.callTime(calls.nanos())
                + ", " + (calls.failed() == 0 ? "none failed" : calls.failed() + " failed"));
        fact("work", calls.done(CallKind.KERNEL) + " kernels, " + calls.done(CallKind.GRAPH) + " graphs");
        fact("copied", copied(calls.traffic()));
        fact("memory", calls.done(CallKind.ALLOCATION) + " calls that take some, for " + Size.format(calls.bytes(CallKind.ALLOCATION))
                + "; " + calls.done(CallKind.FREE) + " that give some back");
    }

    private void fact(String name, String value) {
        lines.add(name + " ".repeat(10 - name.length()) + value);
    }

    private static String copied(Traffic traffic) {
        List<String> parts = new ArrayList<>();
        part(parts, traffic.toGpuBytes(), "to the GPU");
        part(parts, traffic.fromGpuBytes(), "from it");
        part(parts, traffic.onGpuBytes(), "on it");
        part(parts, traffic.betweenGpusBytes(), "between GPUs");
        part(parts, traffic.hostBytes(), "on the host");
        part(parts, traffic.otherBytes(), "by calls that do not say where to");
        return parts.isEmpty() ? "nothing" : String.join(", ", parts);
    }

    private static void part(List<String> parts, long bytes, String where) {
        if (bytes != 0) {
            parts.add(Size.format(bytes) + " " + where);
        }
    }

    private void gpus() {
        Table table = new Table(">GPU", ">MEMORY", ">LIMIT", ">PEAK", ">REFUSED", ">BUSY", ">GOT", "NAME");
        for (TenantGpu gpu : tenant.gpus()) {
            table.row(Integer.toString(gpu.index()), Size.format(gpu.usedBytes()),
                    gpu.limitBytes() == 0 ? "none" : Size.format(gpu.limitBytes()), Size.format(gpu.peakBytes()),
                    Long.toString(gpu.refusedCalls()), ShareText.used(gpu.time()),
                    ShareText.got(EarlierLook.NONE.gotPermille(tenant, gpu)), Text.visible(gpu.name()));
        }
        append(table);
    }

    /// Only the reasons for which calls waited.
    private void waits() {
        Table table = new Table(">GPU", "WAITED FOR", ">TIMES", ">TIME", ">MEAN");
        for (TenantGpu gpu : tenant.gpus()) {
            GpuTime time = gpu.time();
            wait(table, gpu, "its cap", time.capWaits(), time.capWaitedNanos());
            wait(table, gpu, "its turn", time.turnWaits(), time.turnWaitedNanos());
            wait(table, gpu, "its work under way", time.roomWaits(), time.roomWaitedNanos());
            wait(table, gpu, "memory of its quota", time.memoryWaits(), time.memoryWaitedNanos());
        }
        append(table);
    }

    private static void wait(Table table, TenantGpu gpu, String what, long times, long nanos) {
        if (times != 0) {
            table.row(Integer.toString(gpu.index()), what, Long.toString(times), Text.callTime(nanos), Text.callTime(nanos / times));
        }
    }

    private void functions(TenantCalls earlier, int top) {
        Map<String, Long> before = earlier == null ? Map.of()
                : earlier.counts().stream().collect(Collectors.toMap(CallCount::name, CallCount::calls));
        Table table = new Table("FUNCTION", ">CALLS", ">IN A SECOND", ">FAILED", ">TIME", ">MEAN", ">LONGEST", ">BYTES");
        List<CallCount> counts = calls.counts().stream().sorted(Comparator.comparingLong(CallCount::nanos).reversed()).toList();
        Function<CallCount, String> rate = count -> earlier == null ? Table.NOTHING : Long.toString(Math.round(
                1e9 * (count.calls() - before.getOrDefault(count.name(), 0L)) / (calls.readNanos() - earlier.readNanos())));
        counts.stream().limit(top == 0 ? counts.size() : top).forEach(count -> table.row(count.name(), Long.toString(count.calls()),
                rate.apply(count), count.failed() == 0 ? Table.NOTHING : Long.toString(count.failed()),
                time(count, count.nanos()), time(count, count.meanNanos()), longest(count),
                count.bytes() == 0 ? Table.NOTHING : Size.format(count.bytes())));
        table.omitIfEmpty("IN A SECOND");
        append(table);
        if (top != 0 && counts.size() > top) {
            lines.add("and " + (counts.size() - top) + " more; --top 0 shows all");
        }
    }

    /// The library times only some of the quick calls.
    private static String time(CallCount count, long nanos) {
        return count.timedCalls() == 0 ? Table.NOTHING : (count.estimated() ? "~" : "") + Text.callTime(nanos);
    }

    private static String longest(CallCount count) {
        return count.timedCalls() == 0 ? Table.NOTHING : Text.callTime(count.longestNanos());
    }

    private void append(Table table) {
        if (!table.isEmpty()) {
            lines.add("");
            lines.addAll(table.lines(screen));
        }
    }
}
