package sluice.api.pause;

import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import sluice.api.model.Operation;
import sluice.api.model.Operation.Kind;
import sluice.api.model.Operation.State;
import sluice.region.CommandChange;
import sluice.region.Tenant;
import sluice.region.pause.Depth;
import sluice.region.pause.PauseStep;
import sluice.region.pause.TenantPause;
import sluice.region.place.SluiceException;
import sluice.region.restore.RestoreRoom;

/// A pause or a resume of a tenant whose region this process can write.
///
/// It goes on by looks alone: a look that finds a process that refused, or that comes after the time, takes a pause back. A resume is never
/// taken back: its processes go on until they run. Processes whose state the driver has stored wait until a look here finds room for them.
public final class PauseOperation implements FollowedOperation {
    private static final long LOOKS_APART_NANOS = 200_000_000;

    private final Tenant tenant;
    private final CommandChange change;
    private final Optional<Duration> timeout;
    private final RestoreRoom room;
    private final long beganNanos = System.nanoTime();
    private long lookedNanos = beganNanos - LOOKS_APART_NANOS;
    private String lacking = "";
    private Operation last;

    private PauseOperation(Tenant tenant, CommandChange change, Optional<Duration> timeout, RestoreRoom room, Operation first) {
        this.tenant = tenant;
        this.change = change;
        this.timeout = timeout;
        this.room = room;
        last = first;
    }

    /// Asks the tenant. What it was asked for before goes on.
    ///
    /// @param timeout after which a pause is taken back; empty: never
    public static PauseOperation begin(String id, Tenant tenant, Kind kind, Optional<Duration> timeout, RestoreRoom room) {
        if (kind.depth() != Depth.VACATE) {
            room.look(tenant);
        }
        CommandChange change = CommandChange.to(kind.depth(), tenant);
        TenantPause pause = tenant.pause();
        return new PauseOperation(tenant, change, timeout, room,
                new Operation(id, tenant.name(), tenant.uid(), kind, State.RUNNING, pause.moving(), pause.host(), "", nowNanos(), 0));
    }

    @Override
    public synchronized Operation look() {
        if (last.runs()) {
            last = next();
        }
        return last;
    }

    @Override
    public synchronized Operation withdraw() {
        return look().runs() && last.kind().isPause() ? takeBack(State.WITHDRAWN, "withdrawn") : last;
    }

    private Operation next() {
        Tenant now = now();
        if (now == null || !now.state().lives()) {
            return last.ended(State.FAILED, "tenant '" + tenant.name() + "' has ended", nowNanos());
        }
        TenantPause pause = now.pause();
        lookForRoom(now, pause);
        last = new Operation(last.id(), last.tenant(), last.uid(), last.kind(), State.RUNNING, pause.moving(), pause.host(), lacking.isEmpty() ? pause.reason() : lacking,
                last.beganNanos(), 0);
        if (now.asked().word() != change.asked().word()) {
            return last.ended(State.WITHDRAWN, "it was asked to " + Kind.of(now.asked().depth()).word() + " meanwhile", nowNanos());
        }
        if (pause.refused()) {
            return last.kind().isPause() ? takeBack(State.FAILED, pause.reason()) : last.ended(State.FAILED, pause.reason(), nowNanos());
        }
        if (now.liveProcesses().stream().allMatch(process -> process.pause().hasDone(change.asked()))) {
            return last.ended(State.DONE, "", nowNanos());
        }
        boolean late = timeout.isPresent() && System.nanoTime() - beganNanos > timeout.get().toNanos();
        return late && last.kind().isPause() ? takeBack(State.WITHDRAWN, "not done within " + timeout.get().toMillis() / 1e3 + " s; it was "
                + last.moving().step().words()) : last;
    }

    private void lookForRoom(Tenant now, TenantPause pause) {
        if (now.asked().depth() == Depth.VACATE || pause.moving().step() != PauseStep.ROOM) {
            lacking = "";
        } else if (System.nanoTime() - lookedNanos >= LOOKS_APART_NANOS) {
            lacking = room.look(now).orElse("");
            lookedNanos = System.nanoTime();
        }
    }

    /// Null when it is gone, or its file is another tenant's.
    private Tenant now() {
        try {
            Tenant now = Tenant.read(tenant.file());
            return now.createdNanos() == tenant.createdNanos() ? now : null;
        } catch (SluiceException e) {
            return null;
        }
    }

    private Operation takeBack(State how, String why) {
        change.withdraw();
        room.look(tenant);
        last = last.ended(how, why, nowNanos());
        return last;
    }

    private static long nowNanos() {
        Instant now = Instant.now();
        return now.getEpochSecond() * 1_000_000_000 + now.getNano();
    }
}
