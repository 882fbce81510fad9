package sluice.region.layout;

import java.lang.foreign.MemorySegment;
import java.util.List;

/// Where the records of one file lie: as this version makes files, or as a file of another revision says itself.
public final class LayoutPlaces {
    private final List<Place> places;

    /// @param name       of the records
    /// @param bytes      size of one, from one to the next
    /// @param leastBytes up to the end of the last field that every revision has
    /// @param later      whether files of earlier revisions may lack it
    public record Place(String name, long offset, int bytes, int count, int leastBytes, boolean later) {
        public long end() {
            return offset + (long) bytes * count;
        }

        public Place at(long otherOffset, int otherBytes) {
            return new Place(name, otherOffset, otherBytes, count, leastBytes, later);
        }
    }

    public LayoutPlaces(Place... places) {
        this.places = List.of(places);
    }

    public List<Place> list() {
        return places;
    }

    /// Where a record lies in the file.
    public long offset(int place, long index) {
        Place found = places.get(place);
        return found.offset() + index * found.bytes();
    }

    /// Size of a record, from one to the next.
    public int bytes(int place) {
        return places.get(place).bytes();
    }

    /// One record; zeros that nobody else sees, where the file has none.
    MemorySegment record(MemorySegment file, int place, long index, int ownBytes) {
        return place < places.size() ? file.asSlice(offset(place, index), bytes(place)) : MemorySegment.ofArray(new long[ownBytes / Long.BYTES]);
    }
}
