package sluice.region.layout;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.util.Objects;

/// Generated from spec/region.abi: one slot record of a region. Reads and writes go straight to the mapped file.
public final class SlotView {
    private static final VarHandle LONG = ValueLayout.JAVA_LONG.varHandle();

    private final MemorySegment segment;

    private SlotView(MemorySegment segment) {
        this.segment = segment;
    }

    /// The record with this index in a mapped region.
    public static SlotView at(MemorySegment region, int index) {
        Objects.checkIndex(index, RegionLayout.SLOT_COUNT);
        return new SlotView(region.asSlice(
                RegionLayout.SLOT_OFFSET + (long) index * RegionLayout.SLOT_BYTES, RegionLayout.SLOT_BYTES));
    }

    /// The same in a region that says itself where its records lie.
    public static SlotView at(MemorySegment region, LayoutPlaces places, int index) {
        Objects.checkIndex(index, RegionLayout.SLOT_COUNT);
        return new SlotView(places.record(region, RegionLayout.SLOT_PLACE, index, RegionLayout.SLOT_BYTES));
    }

    /// Who has it; 0 = free.
    public long owner() {
        return (long) LONG.getAcquire(segment, 0L);
    }

    public void owner(long value) {
        LONG.setRelease(segment, 0L, value);
    }

    public boolean compareAndSetOwner(long expected, long value) {
        return LONG.compareAndSet(segment, 0L, expected, value);
    }

    /// Adds and returns what was there before.
    public long addOwner(long delta) {
        return (long) LONG.getAndAdd(segment, 0L, delta);
    }

    /// Which GPU.
    public byte[] uuid() {
        return segment.asSlice(8L, 16L).toArray(ValueLayout.JAVA_BYTE);
    }

    public void uuid(byte[] bytes) {
        segment.asSlice(8L, 16L).copyFrom(MemorySegment.ofArray(bytes));
    }

    /// What it holds.
    public long chargedBytes() {
        return (long) LONG.getAcquire(segment, 24L);
    }

    public void chargedBytes(long value) {
        LONG.setRelease(segment, 24L, value);
    }

    public boolean compareAndSetChargedBytes(long expected, long value) {
        return LONG.compareAndSet(segment, 24L, expected, value);
    }

    /// Adds and returns what was there before.
    public long addChargedBytes(long delta) {
        return (long) LONG.getAndAdd(segment, 24L, delta);
    }

    /// What it has done. Since revision 1.
    public long answer() {
        if (segment.byteSize() < 40L) {
            return 0;
        }
        return (long) LONG.getAcquire(segment, 32L);
    }

    public void answer(long value) {
        if (segment.byteSize() < 40L) {
            return;
        }
        LONG.setRelease(segment, 32L, value);
    }

    public boolean compareAndSetAnswer(long expected, long value) {
        if (segment.byteSize() < 40L) {
            return false;
        }
        return LONG.compareAndSet(segment, 32L, expected, value);
    }

    /// Adds and returns what was there before.
    public long addAnswer(long delta) {
        if (segment.byteSize() < 40L) {
            return 0;
        }
        return (long) LONG.getAndAdd(segment, 32L, delta);
    }
}
