package sluice.region.pause;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import sluice.region.layout.RegionLayout;

/// How much of a tenant leaves the GPU. Each depth includes those before it.
public enum Depth {
    /// Nothing: the tenant runs.
    RUN(RegionLayout.COMMAND_RUN, "running"),
    /// No more work is submitted; the memory stays.
    HOLD(RegionLayout.COMMAND_PAUSE, "paused"),
    /// The memory moves to host memory.
    RELEASE(RegionLayout.COMMAND_EVICT, "released"),
    /// The driver's own state leaves too.
    VACATE(RegionLayout.COMMAND_VACATE, "vacated");

    private final int what;
    private final String done;

    Depth(int what, String done) {
        this.what = what;
        this.done = done;
    }

    /// Those of a pause, as people write them.
    public static List<String> ofPauses() {
        return Arrays.stream(values()).filter(Depth::isPause).map(Depth::word).toList();
    }

    public static Optional<Depth> find(String word) {
        return Arrays.stream(values()).filter(depth -> depth.word().equals(word)).findFirst();
    }

    /// Its number in the region.
    int what() {
        return what;
    }

    /// A command that this version does not know holds the tenant at least.
    static Depth of(long what) {
        return Arrays.stream(values()).filter(depth -> depth.what == what).findFirst().orElse(HOLD);
    }

    public boolean isPause() {
        return this != RUN;
    }

    /// Whether the memory is not on the GPU.
    public boolean isAway() {
        return this == RELEASE || this == VACATE;
    }

    public String word() {
        return name().toLowerCase(Locale.ROOT);
    }

    /// What a tenant is that has carried it out.
    public String done() {
        return done;
    }
}
