package sluice.region.pause;

import java.util.Arrays;
import java.util.Locale;
import java.util.Optional;
import sluice.region.layout.RegionLayout;

/// What a process is doing to carry out a command.
public enum PauseStep {
    NONE(RegionLayout.STEP_NONE, "nothing is under way"),
    HOLD(RegionLayout.STEP_HOLD, "waiting for calls to come back"),
    DRAIN(RegionLayout.STEP_DRAIN, "waiting for submitted work to end"),
    PREPARE(RegionLayout.STEP_PREPARE, "making host memory ready"),
    COPY_OUT(RegionLayout.STEP_COPY_OUT, "copying memory to the host"),
    FREE(RegionLayout.STEP_FREE, "giving memory back to the driver"),
    STORE(RegionLayout.STEP_STORE, "storing the driver's state"),
    RESTORE(RegionLayout.STEP_RESTORE, "restoring the driver's state"),
    ROOM(RegionLayout.STEP_ROOM, "waiting for room on the GPU"),
    COPY_BACK(RegionLayout.STEP_COPY_BACK, "copying memory back to the GPU");

    private final int number;
    private final String words;

    PauseStep(int number, String words) {
        this.number = number;
        this.words = words;
    }

    /// A step that this version does not know is none.
    static PauseStep of(long number) {
        return Arrays.stream(values()).filter(step -> step.number == number).findFirst().orElse(NONE);
    }

    public static Optional<PauseStep> find(String word) {
        return Arrays.stream(values()).filter(step -> step.word().equals(word)).findFirst();
    }

    /// In the region.
    public int number() {
        return number;
    }

    public boolean isUnderWay() {
        return this != NONE;
    }

    /// Whether it counts bytes.
    public boolean moves() {
        return this == PREPARE || this == COPY_OUT || this == FREE || this == COPY_BACK;
    }

    public String word() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    /// For people.
    public String words() {
        return words;
    }
}
