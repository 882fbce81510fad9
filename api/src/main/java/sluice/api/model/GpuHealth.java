package sluice.api.model;

import java.util.List;

/// The agent's words for faults of a GPU. Some of them are no reason to keep new work away from it.
public final class GpuHealth {
    /// An Xid that a program caused by its own mistake.
    public static final String OF_PROGRAM = " (a program's error)";
    public static final String HOT = "hot: ";
    public static final String SLOWED = "slowed down by ";

    private GpuHealth() {}

    /// The faults that make it unfit for new work.
    public static List<String> unfit(List<String> words) {
        return words.stream().filter(word -> !word.endsWith(OF_PROGRAM) && !word.startsWith(HOT) && !word.startsWith(SLOWED)).toList();
    }
}
