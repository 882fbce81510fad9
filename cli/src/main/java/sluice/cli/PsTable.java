package sluice.cli;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import sluice.region.Size;
import sluice.region.Tenant;
import sluice.region.TenantGpu;
import sluice.region.TenantProcess;

/// Tenants as a table, one line for each GPU of each.
final class PsTable {
    private static final int PIDS_SHOWN = 3;
    private static final int COMMAND_WIDTH = 48;

    private PsTable() {}

    static List<String> lines(List<Tenant> tenants, Instant now, Screen screen) {
        Table table = new Table("TENANT", ">GPU", "PID(S)", ">USED", ">LIMIT", ">PEAK", ">REFUSED", ">AGE", "COMMAND");
        for (Tenant tenant : tenants) {
            String age = age(tenant.createdNanos(), now);
            String command = Text.cut(Text.visible(tenant.command()), COMMAND_WIDTH);
            if (tenant.gpus().isEmpty()) {
                String limit = tenant.limits().isEmpty() ? "none" : tenant.limits().toString();
                table.row(tenant.name(), "-", pids(tenant), "-", limit, "-", "-", age, command);
            }
            for (TenantGpu gpu : tenant.gpus()) {
                table.row(tenant.name(), Integer.toString(gpu.index()), pids(tenant), used(gpu, screen), limit(gpu),
                        Size.format(gpu.peakBytes()), refused(gpu, screen), age, command);
            }
        }
        return table.lines(screen);
    }

    private static String used(TenantGpu gpu, Screen screen) {
        String used = Size.format(gpu.usedBytes());
        boolean nearlyFull = gpu.limitBytes() != 0 && gpu.usedBytes() > gpu.limitBytes() / 10 * 9;
        return nearlyFull ? screen.yellow(used) : used;
    }

    private static String limit(TenantGpu gpu) {
        return gpu.limitBytes() == 0 ? "none" : Size.format(gpu.limitBytes());
    }

    private static String refused(TenantGpu gpu, Screen screen) {
        String refused = Long.toString(gpu.refusedCalls());
        return gpu.refusedCalls() == 0 ? refused : screen.red(refused);
    }

    private static String pids(Tenant tenant) {
        if (!tenant.running()) {
            return "ended";
        }
        List<TenantProcess> live = tenant.liveProcesses();
        if (live.isEmpty()) {
            return Long.toString(tenant.root().pid());
        }
        String pids = String.join(",", live.stream().limit(PIDS_SHOWN)
                .map(process -> Long.toString(process.identity().pid())).toList());
        return live.size() > PIDS_SHOWN ? pids + ",+" + (live.size() - PIDS_SHOWN) : pids;
    }

    /// The time since a moment, in its largest unit.
    static String age(long nanos, Instant now) {
        long seconds = Math.max(0, Duration.between(Text.instant(nanos), now).toSeconds());
        if (seconds < 60) {
            return seconds + "s";
        }
        if (seconds < 3600) {
            return seconds / 60 + "m";
        }
        return seconds < 86400 ? seconds / 3600 + "h" : seconds / 86400 + "d";
    }
}
