package sluice.cli.tables;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import sluice.api.model.ClaimPlace;
import sluice.api.model.EarlierLook;
import sluice.cli.output.Screen;
import sluice.cli.output.Table;
import sluice.cli.output.Text;
import sluice.region.GpuTime;
import sluice.region.Tenant;
import sluice.region.TenantGpu;
import sluice.region.TenantProcess;
import sluice.region.limits.Size;

/// Tenants as a table, one line for each GPU of each tenant. Below it are notes about limits that do not hold as asked. Columns of GPU time
/// are shown if a tenant has values for them.
public final class PsTable {
    private static final int PIDS_SHOWN = 3;
    private static final int COMMAND_WIDTH = 48;
    private static final int WIDTH = 120;

    private final Instant now;
    private final Screen screen;
    private final EarlierLook earlier;
    private final Table table = new Table("TENANT", ">GPU", "PID(S)", ">USED", ">LIMIT", ">PEAK", ">REFUSED",
            ">GPU TIME", ">GOT", "ASKED", ">WAITED", ">DEBT", ">AGE", "POD", "CLAIM", "COMMAND");
    private final Map<String, ClaimPlace> claims;
    private final int commandWidth;

    private PsTable(Instant now, Screen screen, EarlierLook earlier, Map<String, ClaimPlace> claims, int commandWidth) {
        this.now = now;
        this.screen = screen;
        this.earlier = earlier;
        this.claims = claims;
        this.commandWidth = commandWidth;
    }

    public static List<String> lines(List<Tenant> tenants, Instant now, Screen screen) {
        return lines(tenants, EarlierLook.NONE, now, screen);
    }

    public static List<String> lines(List<Tenant> tenants, EarlierLook earlier, Instant now, Screen screen) {
        return new PsTable(now, screen, earlier, Map.of(), COMMAND_WIDTH).lines(tenants, WIDTH);
    }

    /// With nothing cut short, and with what is known of claims.
    ///
    /// @param claims by the names of their tenants
    public static List<String> wide(List<Tenant> tenants, EarlierLook earlier, Instant now, Screen screen, Map<String, ClaimPlace> claims) {
        return new PsTable(now, screen, earlier, claims, Integer.MAX_VALUE).lines(tenants, Integer.MAX_VALUE);
    }

    private List<String> lines(List<Tenant> tenants, int width) {
        tenants.forEach(this::rows);
        for (String column : List.of("GPU TIME", "GOT", "ASKED", "WAITED", "DEBT", "POD", "CLAIM")) {
            table.omitIfEmpty(column);
        }
        List<String> lines = new ArrayList<>(table.lines(screen, width));
        for (Tenant tenant : tenants) {
            ShareText.notes(tenant, now).forEach(note -> lines.add(tenant.name() + " on " + note));
            ShareText.notStrict(tenant).ifPresent(note -> lines.add(tenant.name() + ": " + note));
            PauseText.note(tenant, now).ifPresent(note -> lines.add(tenant.name() + ": " + note));
        }
        return lines;
    }

    private void rows(Tenant tenant) {
        String age = age(tenant.createdNanos(), now);
        String command = Text.cut(Text.visible(tenant.command()), commandWidth);
        Optional<ClaimPlace> place = Optional.ofNullable(claims.get(tenant.name()));
        String pod = place.map(ClaimPlace::user).orElse(Table.NOTHING);
        String claim = place.map(ClaimPlace::claim).orElse(Table.NOTHING);
        if (tenant.gpus().isEmpty()) {
            table.row(name(tenant), "-", pids(tenant), "-", tenant.memory().toString(), "-", "-", "-", "-",
                    ShareText.asked(tenant.compute(), tenant.compute().caps().permille(0)), "-", "-", age, pod, claim, command);
        }
        for (TenantGpu gpu : tenant.gpus()) {
            GpuTime time = gpu.time();
            table.row(name(tenant), Integer.toString(gpu.index()), pids(tenant), used(gpu), limit(gpu),
                    Size.format(gpu.peakBytes()), refused(gpu), ShareText.used(time), ShareText.got(earlier.gotPermille(tenant, gpu)),
                    ShareText.asked(tenant.compute(), time.capPermille()), ShareText.waited(time), debt(tenant, time), age, pod, claim, command);
        }
    }

    private String debt(Tenant tenant, GpuTime time) {
        String debt = ShareText.debt(tenant, time);
        return debt.equals(Table.NOTHING) ? debt : screen.yellow(debt);
    }

    private String used(TenantGpu gpu) {
        String used = Size.format(gpu.usedBytes());
        boolean nearlyFull = gpu.limitBytes() != 0 && gpu.usedBytes() > gpu.limitBytes() / 10 * 9;
        return nearlyFull ? screen.yellow(used) : used;
    }

    private static String limit(TenantGpu gpu) {
        return gpu.limitBytes() == 0 ? "none" : Size.format(gpu.limitBytes());
    }

    private String refused(TenantGpu gpu) {
        String refused = Long.toString(gpu.refusedCalls());
        return gpu.refusedCalls() == 0 ? refused : screen.red(refused);
    }

    /// With the state of a pause.
    private String name(Tenant tenant) {
        return PauseText.isOfPause(tenant.state()) ? PauseText.name(tenant, now) : tenant.name();
    }

    /// With the state before and after the tenant's life.
    private static String pids(Tenant tenant) {
        return switch (tenant.state()) {
            case STARTING -> numbers(tenant) + " " + tenant.state().word();
            case ENDED -> tenant.state().word();
            default -> numbers(tenant);
        };
    }

    private static String numbers(Tenant tenant) {
        List<TenantProcess> live = tenant.liveProcesses();
        if (live.isEmpty()) {
            return Long.toString(tenant.root().pid());
        }
        String pids = String.join(",", live.stream().limit(PIDS_SHOWN)
                .map(process -> Long.toString(process.identity().pid())).toList());
        return live.size() > PIDS_SHOWN ? pids + ",+" + (live.size() - PIDS_SHOWN) : pids;
    }

    /// The time since a moment, in its largest unit.
    public static String age(long nanos, Instant now) {
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
