package sluice.region.layout;

/// Generated from spec/region.abi: the layout of the region's file. docs/region.md explains every field.
public final class RegionLayout {
    /// Version of the layout.
    public static final int LAYOUT = 3;

    /// The first word of the file.
    public static final long MAGIC = 0x594e4954L;

    /// Size of the file.
    public static final long REGION_BYTES = 16384L;

    /// Size of page 0, which the library maps read-only.
    public static final int PAGE_BYTES = 4096;

    /// Compatible changes of the layout so far.
    public static final int REVISION = 2;

    /// Bits of the features that are known here, those that a new file requires, and their names from bit 0 on.
    public static final long FEATURES = 0x3L;
    public static final long FEATURES_REQUIRED = 0x2L;
    public static final String FEATURE_NAMES = "places turns";

    /// Where the records of a new file lie.
    public static final LayoutPlaces PLACES = new LayoutPlaces(
            new LayoutPlaces.Place("header", 0L, 128, 1, 80, false),
            new LayoutPlaces.Place("format", 2048L, 2048, 1, 1152, false),
            new LayoutPlaces.Place("slot", 4096L, 64, 8, 32, false),
            new LayoutPlaces.Place("later", 8192L, 64, 2, 8, true));

    /// Where the header records lie, how large one is and how many there are.
    public static final long HEADER_OFFSET = 0L;
    public static final int HEADER_BYTES = 128;
    public static final int HEADER_COUNT = 1;
    public static final int HEADER_PLACE = 0;
    public static final int HEADER_MAGIC_OFFSET = 0;
    public static final int HEADER_LAYOUT_OFFSET = 8;
    public static final int HEADER_ZONE_MINUTES_OFFSET = 12;
    public static final int HEADER_LIMIT_BYTES_OFFSET = 16;
    public static final int HEADER_TENANT_OFFSET = 48;

    /// Where the format records lie, how large one is and how many there are.
    public static final long FORMAT_OFFSET = 2048L;
    public static final int FORMAT_BYTES = 2048;
    public static final int FORMAT_COUNT = 1;
    public static final int FORMAT_PLACE = 1;
    public static final int FORMAT_REVISION_OFFSET = 2048;
    public static final int FORMAT_PLACES_OFFSET = 2052;
    public static final int FORMAT_FEATURES_OFFERED_OFFSET = 2056;
    public static final int FORMAT_FEATURES_REQUIRED_OFFSET = 2064;
    public static final int FORMAT_VERSION_OFFSET = 2072;
    public static final int FORMAT_FEATURE_NAMES_OFFSET = 2112;
    public static final int FORMAT_PLACE_OFFSET_OFFSET = 2176;
    public static final int FORMAT_PLACE_BYTES_OFFSET = 2688;
    public static final int FORMAT_PLACE_COUNT_OFFSET = 2944;

    /// Where the slot records lie, how large one is and how many there are.
    public static final long SLOT_OFFSET = 4096L;
    public static final int SLOT_BYTES = 64;
    public static final int SLOT_COUNT = 8;
    public static final int SLOT_PLACE = 2;

    /// Where the later records lie, how large one is and how many there are.
    public static final long LATER_OFFSET = 8192L;
    public static final int LATER_BYTES = 64;
    public static final int LATER_COUNT = 2;
    public static final int LATER_PLACE = 3;

    private RegionLayout() {}
}
