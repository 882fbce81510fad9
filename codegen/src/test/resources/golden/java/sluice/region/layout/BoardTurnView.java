package sluice.region.layout;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;

/// Generated from spec/board.abi: one turn record of a board. Reads and writes go straight to the mapped file.
public final class BoardTurnView {
    private static final VarHandle INT = ValueLayout.JAVA_INT.varHandle();
    private static final VarHandle LONG = ValueLayout.JAVA_LONG.varHandle();

    private final MemorySegment segment;

    private BoardTurnView(MemorySegment segment) {
        this.segment = segment;
    }

    /// The record in a mapped board.
    public static BoardTurnView of(MemorySegment board) {
        return new BoardTurnView(board.asSlice(BoardLayout.TURN_OFFSET, BoardLayout.TURN_BYTES));
    }

    /// Whose turn it is.
    public long word() {
        return (long) LONG.getAcquire(segment, 0L);
    }

    public void word(long value) {
        LONG.setRelease(segment, 0L, value);
    }

    public boolean compareAndSetWord(long expected, long value) {
        return LONG.compareAndSet(segment, 0L, expected, value);
    }

    /// Adds and returns what was there before.
    public long addWord(long delta) {
        return (long) LONG.getAndAdd(segment, 0L, delta);
    }

    /// What is owed.
    public long balance() {
        return (long) LONG.getAcquire(segment, 8L);
    }

    public void balance(long value) {
        LONG.setRelease(segment, 8L, value);
    }

    public boolean compareAndSetBalance(long expected, long value) {
        return LONG.compareAndSet(segment, 8L, expected, value);
    }

    /// Adds and returns what was there before.
    public long addBalance(long delta) {
        return (long) LONG.getAndAdd(segment, 8L, delta);
    }

    /// 0.
    public long reserved() {
        return Integer.toUnsignedLong((int) INT.get(segment, 16L));
    }

    public void reserved(long value) {
        INT.set(segment, 16L, (int) value);
    }
}
