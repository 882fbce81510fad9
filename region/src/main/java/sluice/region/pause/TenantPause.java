package sluice.region.pause;

import java.util.Comparator;
import java.util.List;
import sluice.region.pause.ProcessPause.Host;
import sluice.region.pause.ProcessPause.Moved;
import sluice.region.pause.ProcessPause.Moving;

/// How far all processes of a tenant together are with what it was asked to do.
///
/// @param sinceNanos from when on its calls are held, since 1970; 0 = they are not
/// @param moving     what the process does that is furthest behind, and the bytes of all that do the same
/// @param refused    whether a process could not carry out the command
/// @param reason     why, or what a process waits for; empty when there is nothing to say
/// @param own        pauses that processes asked of themselves
public record TenantPause(Command asked, long sinceNanos, Moving moving, Host host, Moved moved, boolean refused, String reason, OwnPauses own) {
    /// The reason of a process that neither waits nor refuses is left over from earlier.
    public TenantPause {
        reason = refused || moving.step().isUnderWay() ? reason : "";
    }

    /// Signals and files of older tools ask one process alone.
    ///
    /// @param paused how many processes have paused themselves
    /// @param reason why one of them could not do all that was asked; empty when all did
    public record OwnPauses(long paused, String reason) {
        static OwnPauses of(List<ProcessPause> processes) {
            return new OwnPauses(processes.stream().filter(ProcessPause::isOwnPause).count(),
                    TenantPause.reason(processes.stream().filter(process -> process.attended() && process.own().isRefused()).toList()));
        }
    }

    public static TenantPause of(Command asked, List<ProcessPause> processes) {
        long held = processes.stream().mapToLong(ProcessPause::sinceNanos).filter(nanos -> nanos != 0).min().orElse(0);
        long since = held != 0 || !asked.depth().isPause() ? held : asked.atNanos();
        Moved moved = processes.stream().map(ProcessPause::moved).reduce(Moved.NONE, Moved::plus);
        List<ProcessPause> refusing = processes.stream().filter(process -> process.hasRefused(asked)).toList();
        Moving moving = moving(processes.stream().map(ProcessPause::moving).filter(each -> each.step().isUnderWay()).toList());
        return new TenantPause(asked, since, moving, host(processes), moved, !refusing.isEmpty(),
                reason(refusing.isEmpty() ? processes.stream().filter(process -> process.moving().step() == moving.step()).toList() : refusing),
                OwnPauses.of(processes));
    }

    private static Moving moving(List<Moving> underWay) {
        PauseStep step = underWay.stream().map(Moving::step).min(Comparator.comparing((PauseStep each) -> each != PauseStep.ROOM).thenComparing(each -> each)).orElse(PauseStep.NONE);
        List<Moving> same = underWay.stream().filter(each -> each.step() == step).toList();
        return new Moving(step, same.stream().mapToLong(Moving::sinceNanos).min().orElse(0), same.stream().mapToLong(Moving::totalBytes).sum(),
                same.stream().mapToLong(Moving::movedBytes).sum());
    }

    private static Host host(List<ProcessPause> processes) {
        return new Host(processes.stream().mapToLong(process -> process.host().awayBytes()).sum(),
                processes.stream().mapToLong(process -> process.host().stayingBytes()).sum(),
                processes.stream().mapToLong(process -> process.host().reservoirBytes()).sum());
    }

    private static String reason(List<ProcessPause> processes) {
        return processes.stream().map(ProcessPause::reason).filter(text -> !text.isEmpty()).findFirst().orElse("");
    }
}
