package sluice.region;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import sluice.region.layout.RegionLayout;

/// What a tenant is doing. All code that shows a tenant or decides about it reads this, and derives it from nothing else.
public enum TenantState {
    /// No process of it has used a GPU yet.
    STARTING,
    RUNNING,
    /// Asked to pause; not all of its processes have done so.
    PAUSING,
    /// None of its processes submits work; its memory is on the GPU.
    PAUSED,
    /// None of its processes submits work; its memory is not on the GPU.
    EVICTED,
    /// Asked to run again; not all of its processes do.
    RESUMING,
    /// The process that it began with and all that took part are gone.
    ENDED;

    private static final long WHAT = 0xff;

    /// The state of a tenant that has not ended: it follows from what the region asks and what each process has answered.
    ///
    /// @param begun   whether a process of it ever used a GPU
    /// @param command `limits.command` of the region
    /// @param answers `slot.answer` of each live process
    static TenantState of(boolean begun, long command, List<Long> answers) {
        boolean done = answers.stream().allMatch(answer -> answer == command);
        return switch ((int) (command & WHAT)) {
            case RegionLayout.COMMAND_PAUSE -> done ? PAUSED : PAUSING;
            case RegionLayout.COMMAND_EVICT -> done ? EVICTED : PAUSING;
            default -> answers.stream().anyMatch(answer -> (answer & WHAT) != RegionLayout.COMMAND_RUN) ? RESUMING
                    : begun || !answers.isEmpty() ? RUNNING : STARTING;
        };
    }

    /// Whether it has any process, and so may still use GPUs.
    public boolean lives() {
        return this != ENDED;
    }

    public String word() {
        return name().toLowerCase(Locale.ROOT);
    }

    public static Optional<TenantState> find(String word) {
        return Arrays.stream(values()).filter(state -> state.word().equals(word)).findFirst();
    }
}
