package sluice.api.pause;

import java.time.Duration;
import java.time.Instant;
import java.util.EnumSet;
import java.util.Optional;
import java.util.Set;
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
/// taken back: its processes go on until they run. Processes whose state the driver has stored wait until a look here finds room for them. So a pause that
/// takes this state off the GPU goes on until the processes are back, for a bounded time: they would wait for ever where no agent looks.
public final class PauseOperation implements FollowedOperation {
    private static final long LOOKS_APART_NANOS = 200_000_000;
    private static final Set<PauseStep> ON_THE_WAY = EnumSet.of(PauseStep.STORE, PauseStep.RESTORE, PauseStep.ROOM, PauseStep.COPY_BACK);
    /// After this time each process has seen that the pause was taken back, and begins no deeper step.
    private static final long SEEN_NANOS = 1_000_000_000;
    private static final long BACK_NANOS = 60_000_000_000L;
    private static final long NO_ROOM_NANOS = 5_000_000_000L;

    private final Tenant tenant;
    private final CommandChange change;
    private final Optional<Duration> timeout;
    private final RestoreRoom room;
    private final long beganNanos = System.nanoTime();
    private long lookedNanos = beganNanos - LOOKS_APART_NANOS;
    private String lacking = "";
    private Operation last;
    private Back back;

    /// How a pause ends that was taken back, when its processes are back.
    private record Back(State how, String why, long sinceNanos) {}

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
        String lacking = kind.depth() == Depth.VACATE ? "" : room.look(tenant).orElse("");
        if (!lacking.isEmpty() && RestoreRoom.isNeededBefore(tenant)) {
            throw new SluiceException(lacking);
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
        return look().runs() && last.kind().isPause() && back == null ? takeBack(State.WITHDRAWN, "withdrawn") : last;
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
        if (back != null) {
            return goesBack(now);
        }
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
        if (last.kind() != Kind.VACATE) {
            return last = last.ended(how, why, nowNanos());
        }
        back = new Back(how, why, System.nanoTime());
        return last = next();
    }

    /// Where a newer command wants the state off the GPU, there is nothing to wait for.
    private Operation goesBack(Tenant now) {
        boolean isBack = now.liveProcesses().stream().allMatch(process -> process.pause().hasDone(now.asked()));
        long nanos = System.nanoTime() - back.sinceNanos();
        boolean given = nanos > BACK_NANOS || !lacking.isEmpty() && nanos > NO_ROOM_NANOS;
        boolean nothingLeft = nanos > SEEN_NANOS && now.liveProcesses().stream().noneMatch(process -> ON_THE_WAY.contains(process.pause().moving().step()));
        if (isBack || nothingLeft || now.asked().depth() == Depth.VACATE || now.pause().refused()) {
            return last.ended(back.how(), back.why(), nowNanos());
        }
        return given ? last.endedOnTheWay(back.how(), back.why() + (last.reason().isEmpty() ? "" : "; " + last.reason()), nowNanos()) : last;
    }

    private static long nowNanos() {
        Instant now = Instant.now();
        return now.getEpochSecond() * 1_000_000_000 + now.getNano();
    }
}
