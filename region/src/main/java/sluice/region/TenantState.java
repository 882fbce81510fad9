package sluice.region;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import sluice.region.pause.Command;
import sluice.region.pause.ProcessPause;

/// The state of a tenant. All code that shows a tenant or decides about it uses this state.
public enum TenantState {
    /// No process of it has used a GPU yet.
    STARTING,
    RUNNING,
    /// Asked to pause; not all of its processes have done so.
    PAUSING,
    /// None of its processes submits work; its memory is on the GPU.
    PAUSED,
    /// None of its processes submits work; its memory is in host memory: released, or vacated.
    EVICTED,
    /// Asked to run again; not all of its processes do.
    RESUMING,
    /// The first process and all processes that attached are gone.
    ENDED;

    /// The state of a tenant that has not ended: it follows from what the region asks and what each process has answered.
    ///
    /// @param begun     whether a process of it ever used a GPU
    /// @param asked     the command in the region
    /// @param processes all live processes
    static TenantState of(boolean begun, Command asked, List<ProcessPause> processes) {
        if (!asked.depth().isPause()) {
            return processes.stream().anyMatch(process -> process.isHeldUnder(asked)) ? RESUMING : ofItself(begun, processes);
        }
        boolean done = processes.stream().allMatch(process -> process.hasDone(asked));
        return !done ? PAUSING : asked.depth().isAway() ? EVICTED : PAUSED;
    }

    /// Without a command to pause, processes may have paused themselves. If only some have, the tenant runs.
    private static TenantState ofItself(boolean begun, List<ProcessPause> processes) {
        List<ProcessPause> attended = processes.stream().filter(ProcessPause::attended).toList();
        if (!attended.isEmpty() && attended.stream().allMatch(ProcessPause::isOwnPause)) {
            boolean settled = attended.stream().allMatch(process -> process.own().isSettled());
            return !settled ? PAUSING : attended.stream().allMatch(process -> process.own().isAway()) ? EVICTED : PAUSED;
        }
        boolean resuming = attended.stream().anyMatch(process -> !process.own().isPause() && !process.own().isSettled());
        return resuming ? RESUMING : begun || !processes.isEmpty() ? RUNNING : STARTING;
    }

    /// Whether it has any process, and so may still use GPUs.
    public boolean lives() {
        return this != ENDED;
    }

    /// Whether the tenant must not submit work.
    public boolean isPause() {
        return this == PAUSING || this == PAUSED || this == EVICTED;
    }

    public String word() {
        return name().toLowerCase(Locale.ROOT);
    }

    public static Optional<TenantState> find(String word) {
        return Arrays.stream(values()).filter(state -> state.word().equals(word)).findFirst();
    }
}
