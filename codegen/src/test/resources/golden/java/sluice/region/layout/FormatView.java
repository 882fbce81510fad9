package sluice.region.layout;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.util.Objects;

/// Generated from spec/region.abi: one format record of a region. Reads and writes go straight to the mapped file.
public final class FormatView {
    private static final VarHandle INT = ValueLayout.JAVA_INT.varHandle();
    private static final VarHandle LONG = ValueLayout.JAVA_LONG.varHandle();

    private final MemorySegment segment;

    private FormatView(MemorySegment segment) {
        this.segment = segment;
    }

    /// The record in a mapped region.
    public static FormatView of(MemorySegment region) {
        return new FormatView(region.asSlice(RegionLayout.FORMAT_OFFSET, RegionLayout.FORMAT_BYTES));
    }

    /// The same in a region that says itself where its records lie.
    public static FormatView of(MemorySegment region, LayoutPlaces places) {
        return new FormatView(places.record(region, RegionLayout.FORMAT_PLACE, 0, RegionLayout.FORMAT_BYTES));
    }

    /// Of this layout.
    public long revision() {
        return Integer.toUnsignedLong((int) INT.get(segment, 0L));
    }

    public void revision(long value) {
        INT.set(segment, 0L, (int) value);
    }

    /// In the table below.
    public long places() {
        return Integer.toUnsignedLong((int) INT.get(segment, 4L));
    }

    public void places(long value) {
        INT.set(segment, 4L, (int) value);
    }

    /// That the creator has.
    public long featuresOffered() {
        return (long) LONG.get(segment, 8L);
    }

    public void featuresOffered(long value) {
        LONG.set(segment, 8L, value);
    }

    /// That a reader must know.
    public long featuresRequired() {
        return (long) LONG.get(segment, 16L);
    }

    public void featuresRequired(long value) {
        LONG.set(segment, 16L, value);
    }

    /// Of its creator.
    public String version() {
        return RegionText.read(segment.asSlice(24L, 40L));
    }

    public void version(String text) {
        RegionText.write(segment.asSlice(24L, 40L), text);
    }

    /// From bit 0 on.
    public String featureNames() {
        return RegionText.read(segment.asSlice(64L, 64L));
    }

    public void featureNames(String text) {
        RegionText.write(segment.asSlice(64L, 64L), text);
    }

    /// Of the first.
    public long placeOffset(int index) {
        Objects.checkIndex(index, 64);
        return (long) LONG.get(segment, 128L + index * 8L);
    }

    public void placeOffset(int index, long value) {
        Objects.checkIndex(index, 64);
        LONG.set(segment, 128L + index * 8L, value);
    }

    /// From one to the next.
    public long placeBytes(int index) {
        Objects.checkIndex(index, 64);
        return Integer.toUnsignedLong((int) INT.get(segment, 640L + index * 4L));
    }

    public void placeBytes(int index, long value) {
        Objects.checkIndex(index, 64);
        INT.set(segment, 640L + index * 4L, (int) value);
    }

    /// How many.
    public long placeCount(int index) {
        Objects.checkIndex(index, 64);
        return Integer.toUnsignedLong((int) INT.get(segment, 896L + index * 4L));
    }

    public void placeCount(int index, long value) {
        Objects.checkIndex(index, 64);
        INT.set(segment, 896L + index * 4L, (int) value);
    }
}
