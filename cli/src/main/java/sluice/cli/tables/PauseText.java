package sluice.cli.tables;

import java.time.Instant;
import java.util.Optional;
import sluice.api.pause.RestText;
import sluice.cli.output.Text;
import sluice.region.Tenant;
import sluice.region.TenantState;
import sluice.region.limits.Size;
import sluice.region.pause.TenantPause;

/// The state of a tenant in words, with details of a pause.
public final class PauseText {
    private PauseText() {}

    /// Short: `paused 3m`, `evicted 3m, 8.0 GiB away`, `pausing 25%`, `starting`.
    public static String state(Tenant tenant, Instant now) {
        TenantPause pause = tenant.pause();
        String word = tenant.state().word();
        return switch (tenant.state()) {
            case PAUSED -> word + since(pause, now);
            case EVICTED -> word + since(pause, now) + (pause.host().awayBytes() == 0 ? "" : ", " + Size.format(pause.host().awayBytes()) + " away");
            case PAUSING, RESUMING -> word + part(pause);
            default -> word;
        };
    }

    /// The tenant's name, with its state where that is not the usual one.
    public static String name(Tenant tenant, Instant now) {
        return Text.visible(tenant.name()) + (tenant.state() == TenantState.RUNNING ? "" : " (" + state(tenant, now) + ")");
    }

    /// Whether the state has to do with a pause.
    public static boolean isOfPause(TenantState state) {
        return state.isPause() || state == TenantState.RESUMING;
    }

    /// The present step, or the refusal of a process; empty: neither.
    public static Optional<String> note(Tenant tenant, Instant now) {
        TenantPause pause = tenant.pause();
        if (pause.refused()) {
            return Optional.of("could not " + pause.asked().depth().word() + ": " + Text.visible(pause.reason()));
        }
        if (pause.own().paused() > 0 && !pause.moving().step().isUnderWay()) {
            return Optional.of(own(tenant, pause));
        }
        return !isOfPause(tenant.state()) || !pause.moving().step().isUnderWay() ? Optional.empty()
                : Optional.of(OperationText.moving(pause.moving(), pause.reason(), now.getEpochSecond() * 1_000_000_000 + now.getNano()));
    }

    private static String own(Tenant tenant, TenantPause pause) {
        long live = tenant.liveProcesses().stream().filter(process -> process.pause().attended()).count();
        return pause.own().paused() + " of " + live + (live == 1 ? " process" : " processes") + " paused by a signal or file of an older tool; 'sluice resume "
                + Text.visible(tenant.name()) + "' takes that back" + (pause.own().reason().isEmpty() ? "" : ". It could not release: " + Text.visible(pause.own().reason()));
    }

    /// Where its memory is; empty for a tenant that has all of it on the GPU.
    public static Optional<String> memory(Tenant tenant) {
        TenantPause pause = tenant.pause();
        if (pause.host().awayBytes() == 0 && pause.host().reservoirBytes() == 0) {
            return Optional.empty();
        }
        return Optional.of(Size.format(pause.host().awayBytes()) + " in host memory (reservoir " + Size.format(pause.host().reservoirBytes()) + "), "
                + RestText.of(pause.host(), pause.asked().depth()));
    }

    private static String since(TenantPause pause, Instant now) {
        return pause.sinceNanos() == 0 ? "" : " " + PsTable.age(pause.sinceNanos(), now);
    }

    private static String part(TenantPause pause) {
        long total = pause.moving().totalBytes();
        return total <= 0 ? "" : " " + Math.clamp(100 * pause.moving().movedBytes() / total, 0, 100) + "%";
    }
}
