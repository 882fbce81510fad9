package sluice.region.layout;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.util.Objects;

/// Generated from spec/region.abi: one later record of a region. Reads and writes go straight to the mapped file.
public final class LaterView {

    private final MemorySegment segment;

    private LaterView(MemorySegment segment) {
        this.segment = segment;
    }

    /// The record with this index in a mapped region.
    public static LaterView at(MemorySegment region, int index) {
        Objects.checkIndex(index, RegionLayout.LATER_COUNT);
        return new LaterView(region.asSlice(
                RegionLayout.LATER_OFFSET + (long) index * RegionLayout.LATER_BYTES, RegionLayout.LATER_BYTES));
    }

    /// The same in a region that says itself where its records lie.
    public static LaterView at(MemorySegment region, LayoutPlaces places, int index) {
        Objects.checkIndex(index, RegionLayout.LATER_COUNT);
        return new LaterView(places.record(region, RegionLayout.LATER_PLACE, index, RegionLayout.LATER_BYTES));
    }

    /// Of what came later.
    public String name() {
        return RegionText.read(segment.asSlice(0L, 8L));
    }

    public void name(String text) {
        RegionText.write(segment.asSlice(0L, 8L), text);
    }
}
