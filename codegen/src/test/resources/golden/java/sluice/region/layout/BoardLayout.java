package sluice.region.layout;

/// Generated from spec/board.abi: the layout of the board's file. docs/board.md explains every field.
public final class BoardLayout {
    /// Version of the layout.
    public static final int LAYOUT = 1;

    /// The first word of the file.
    public static final long MAGIC = 0x42594e4954L;

    /// Size of the file.
    public static final long BOARD_BYTES = 8192L;

    /// Size of page 0, which the library maps read-only.
    public static final int PAGE_BYTES = 4096;

    /// Where the turn records lie, how large one is and how many there are.
    public static final long TURN_OFFSET = 4096L;
    public static final int TURN_BYTES = 64;
    public static final int TURN_COUNT = 1;
    public static final int TURN_WORD_OFFSET = 4096;
    public static final int TURN_BALANCE_OFFSET = 4104;
    public static final int TURN_RESERVED_OFFSET = 4112;

    private BoardLayout() {}
}
