package sluice.region.layout;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.util.Objects;

/// Generated from spec/region.abi: one header record of a region. Reads and writes go straight to the mapped file.
public final class HeaderView {
    private static final VarHandle INT = ValueLayout.JAVA_INT.varHandle();
    private static final VarHandle LONG = ValueLayout.JAVA_LONG.varHandle();

    private final MemorySegment segment;

    private HeaderView(MemorySegment segment) {
        this.segment = segment;
    }

    /// The record in a mapped region.
    public static HeaderView of(MemorySegment region) {
        return new HeaderView(region.asSlice(RegionLayout.HEADER_OFFSET, RegionLayout.HEADER_BYTES));
    }

    /// The same in a region that says itself where its records lie.
    public static HeaderView of(MemorySegment region, LayoutPlaces places) {
        return new HeaderView(places.record(region, RegionLayout.HEADER_PLACE, 0, RegionLayout.HEADER_BYTES));
    }

    /// The bytes "TINY".
    public long magic() {
        return (long) LONG.get(segment, 0L);
    }

    public void magic(long value) {
        LONG.set(segment, 0L, value);
    }

    /// Version of this layout.
    public long layout() {
        return Integer.toUnsignedLong((int) INT.getAcquire(segment, 8L));
    }

    public void layout(long value) {
        INT.setRelease(segment, 8L, (int) value);
    }

    /// East of Greenwich.
    public int zoneMinutes() {
        return (int) INT.get(segment, 12L);
    }

    public void zoneMinutes(int value) {
        INT.set(segment, 12L, value);
    }

    /// One limit for each GPU.
    public long limitBytes(int index) {
        Objects.checkIndex(index, 4);
        return (long) LONG.getAcquire(segment, 16L + index * 8L);
    }

    public void limitBytes(int index, long value) {
        Objects.checkIndex(index, 4);
        LONG.setRelease(segment, 16L + index * 8L, value);
    }

    /// Name of the tenant.
    public String tenant() {
        return RegionText.read(segment.asSlice(48L, 32L));
    }

    public void tenant(String text) {
        RegionText.write(segment.asSlice(48L, 32L), text);
    }
}
