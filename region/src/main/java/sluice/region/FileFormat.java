package sluice.region;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
import sluice.region.layout.FormatView;
import sluice.region.layout.LayoutPlaces;
import sluice.region.layout.RegionLayout;
import sluice.region.layout.SluiceVersion;
import sluice.region.place.Printable;

/// The record in which a region or a board says which features it needs, and where its records lie. The record is the same in both files.
/// A tenant may have made the file, so each value is checked before it is used.
public final class FileFormat {
    private static final int LINE_BYTES = 64;

    /// Of regions.
    static final FileFormat REGION = new FileFormat(RegionLayout.PLACES, RegionLayout.FEATURES);

    private final LayoutPlaces own;
    private final long known;

    /// @param known bits of the features that are known here
    public FileFormat(LayoutPlaces own, long known) {
        this.own = own;
        this.known = known;
    }

    /// Writes the record of a new file. It uses no view: the method handles of a view take milliseconds, and the start of every job
    /// waits for this.
    ///
    /// @param page the file, or its first page
    public static void write(ByteBuffer page, LayoutPlaces own, int revision, long offered, long required, String names) {
        List<LayoutPlaces.Place> places = own.list();
        page.order(ByteOrder.LITTLE_ENDIAN);
        page.putInt(RegionLayout.FORMAT_REVISION_OFFSET, revision);
        page.putInt(RegionLayout.FORMAT_PLACES_OFFSET, places.size());
        page.putLong(RegionLayout.FORMAT_FEATURES_OFFERED_OFFSET, offered);
        page.putLong(RegionLayout.FORMAT_FEATURES_REQUIRED_OFFSET, required);
        page.put(RegionLayout.FORMAT_VERSION_OFFSET, SluiceVersion.TEXT.getBytes(StandardCharsets.US_ASCII));
        page.put(RegionLayout.FORMAT_FEATURE_NAMES_OFFSET, names.getBytes(StandardCharsets.US_ASCII));
        for (int at = 0; at < places.size(); at++) {
            page.putLong(RegionLayout.FORMAT_PLACE_OFFSET_OFFSET + at * Long.BYTES, places.get(at).offset());
            page.putInt(RegionLayout.FORMAT_PLACE_BYTES_OFFSET + at * Integer.BYTES, places.get(at).bytes());
            page.putInt(RegionLayout.FORMAT_PLACE_COUNT_OFFSET + at * Integer.BYTES, places.get(at).count());
        }
    }

    /// Why this sluice cannot read the file, for the end of a sentence; empty: it can.
    ///
    /// @param file at least its first page
    public Optional<String> problem(MemorySegment file) {
        FormatView format = FormatView.of(file);
        long unknown = format.featuresRequired() & ~known;
        if (unknown == 0) {
            return Optional.empty();
        }
        int bit = Long.numberOfTrailingZeros(unknown);
        String[] names = format.featureNames().split(" ");
        return Optional.of("needs the feature '" + (bit < names.length ? Printable.of(names[bit]) : "?") + "' (bit " + bit
                + "), which this sluice (" + SluiceVersion.TEXT + ") does not know; use sluice " + version(file));
    }

    /// Version of Sluice that made the file.
    public static String version(MemorySegment file) {
        return Printable.of(FormatView.of(file).version());
    }

    /// Where the records lie; empty: the values of the file are impossible.
    ///
    /// @param bytes how long the file is
    public Optional<LayoutPlaces> places(MemorySegment file, long bytes) {
        FormatView format = FormatView.of(file);
        List<LayoutPlaces.Place> places = own.list();
        int count = (int) Math.min(format.places(), places.size());
        LayoutPlaces.Place[] found = new LayoutPlaces.Place[count];
        boolean same = count == places.size();
        for (int at = 0; at < count; at++) {
            LayoutPlaces.Place mine = places.get(at);
            LayoutPlaces.Place theirs = mine.at(format.placeOffset(at), (int) format.placeBytes(at));
            if (!isGood(theirs, format.placeCount(at), bytes)) {
                return Optional.empty();
            }
            same &= theirs.equals(mine);
            found[at] = theirs;
        }
        boolean whole = count == places.size() || places.get(count).later();
        return !whole ? Optional.empty() : Optional.of(same ? own : new LayoutPlaces(found));
    }

    private static boolean isGood(LayoutPlaces.Place place, long count, long bytes) {
        return count == place.count() && place.offset() >= 0 && place.offset() <= bytes && place.offset() % LINE_BYTES == 0
                && place.bytes() >= place.leastBytes() && place.bytes() % LINE_BYTES == 0 && place.end() <= bytes;
    }
}
