package sluice.region.calls;

import java.util.Arrays;
import sluice.region.layout.CallTable;

/// The kind of a CUDA function, by which its calls are counted.
public enum CallKind {
    OTHER('-'),
    KERNEL('K'),
    GRAPH('G'),
    COPY('C'),
    SET('S'),
    ALLOCATION('A'),
    FREE('F'),
    HOST_MEMORY('H'),
    WAIT('W');

    private final char letter;

    CallKind(char letter) {
        this.letter = letter;
    }

    /// The kind of a function by its name; `OTHER` for a function that this version does not know.
    public static CallKind named(String function) {
        int entry = CallTable.NAMES.indexOf(function);
        return entry < 0 ? OTHER : of(entry);
    }

    /// Of an entry of `CallTable`.
    static CallKind of(int entry) {
        char letter = CallTable.KINDS.charAt(entry);
        return Arrays.stream(values()).filter(kind -> kind.letter == letter).findFirst().orElse(OTHER);
    }
}
