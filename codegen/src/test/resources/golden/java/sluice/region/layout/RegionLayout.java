package sluice.region.layout;

/// Generated from spec/region.abi: the layout of the region's file. docs/region.md explains every field.
public final class RegionLayout {
    /// Version of the layout.
    public static final int LAYOUT = 3;

    /// The first word of the file.
    public static final long MAGIC = 0x594e4954L;

    /// Size of the file.
    public static final long REGION_BYTES = 8192L;

    /// Size of page 0, which the library maps read-only.
    public static final int PAGE_BYTES = 4096;

    /// Where the header records lie, how large one is and how many there are.
    public static final long HEADER_OFFSET = 0L;
    public static final int HEADER_BYTES = 128;
    public static final int HEADER_COUNT = 1;
    public static final int HEADER_MAGIC_OFFSET = 0;
    public static final int HEADER_LAYOUT_OFFSET = 8;
    public static final int HEADER_ZONE_MINUTES_OFFSET = 12;
    public static final int HEADER_LIMIT_BYTES_OFFSET = 16;
    public static final int HEADER_TENANT_OFFSET = 48;

    /// Where the slot records lie, how large one is and how many there are.
    public static final long SLOT_OFFSET = 4096L;
    public static final int SLOT_BYTES = 64;
    public static final int SLOT_COUNT = 8;

    private RegionLayout() {}
}
