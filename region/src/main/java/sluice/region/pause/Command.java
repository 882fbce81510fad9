package sluice.region.pause;

/// What a tenant was asked to do last.
///
/// @param word    `limits.command` of the region: the depth in the lower 8 bits, above them a number that grows
/// @param atNanos when that was, since 1970; 0 = unknown
public record Command(long word, long atNanos) {
    /// As from the start: run.
    public static final Command NONE = new Command(0, 0);

    private static final int BITS = 8;
    private static final long WHAT = (1 << BITS) - 1;

    public static Command of(long number, Depth depth, long atNanos) {
        return new Command(number << BITS | depth.what(), atNanos);
    }

    public long number() {
        return word >>> BITS;
    }

    public Depth depth() {
        return depth(word);
    }

    static Depth depth(long word) {
        return Depth.of(word & WHAT);
    }

    public Command next(Depth depth, long nanos) {
        return of(number() + 1, depth, nanos);
    }
}
