package sluice.region.calls;

import java.util.Arrays;
import sluice.region.layout.CallTable;

/// What a CUDA function does, as far as it is counted by that.
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

    /// Of a function by its name; one that this version does not know is an other one.
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
