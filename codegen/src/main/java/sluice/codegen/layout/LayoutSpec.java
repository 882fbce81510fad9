package sluice.codegen.layout;

import java.util.List;

/// The layout of a shared file: records with their fields, and the places where they lie in it.
public record LayoutSpec(
        LayoutFile file, int layout, int revision, String magic, int pageBytes, long givenBytes, List<String> rules, List<Record> records,
        List<Place> places, List<Value> values, List<Feature> features) {

    /// The record in which a file describes itself: its records and their places. A file without it is read by its layout alone.
    static final String FORMAT = "format";

    public record Record(String name, int bytes, List<Field> fields, int line) {
        int usedBytes() {
            return fields.isEmpty() ? 0 : fields.getLast().end();
        }

        /// Up to the last field that every revision of the layout has.
        int leastBytes() {
            return fields.stream().filter(field -> field.since() == 0).mapToInt(Field::end).max().orElse(0);
        }
    }

    record Field(
            String name, FieldType type, List<String> writers, Order order, String meaning, String afterCrash, int since, int offset, int line) {
        boolean concurrent() {
            return order.concurrent();
        }

        int end() {
            return offset + type.bytes();
        }
    }

    /// A number that a field may have.
    record Value(String name, int number, String meaning, int line) {}

    /// A bit for an ability of a file, a library or an agent.
    record Feature(String name, int bit, boolean required, String meaning, int line) {
        long mask() {
            return 1L << bit;
        }
    }

    /// The note is the comment directly above the place, for people.
    record Place(Record record, long offset, int count, int since, String note, int line) {
        /// As many records as the file says itself.
        boolean isOpen() {
            return count == 0;
        }

        long end() {
            return offset + (long) record.bytes() * count;
        }
    }

    boolean hasFormat() {
        return records.stream().anyMatch(record -> record.name().equals(FORMAT));
    }

    long knownFeatures() {
        return features.stream().mapToLong(Feature::mask).reduce(0, (a, b) -> a | b);
    }

    long requiredFeatures() {
        return features.stream().filter(Feature::required).mapToLong(Feature::mask).reduce(0, (a, b) -> a | b);
    }

    /// From bit 0 on, with a space between two.
    String featureNames() {
        return String.join(" ", features.stream().map(Feature::name).toList());
    }

    /// Size of the file: as the spec says, or up to the end of the page on which the last record ends.
    long fileBytes() {
        return Math.max(givenBytes, usedBytes());
    }

    /// Up to the end of the page on which the last record ends.
    long usedBytes() {
        var end = places.stream().mapToLong(Place::end).max().orElse(0);
        return (end + pageBytes - 1) / pageBytes * pageBytes;
    }

    /// The magic text as a little-endian number.
    long magicNumber() {
        long number = 0;
        for (int i = magic.length() - 1; i >= 0; i--) {
            number = number << 8 | magic.charAt(i);
        }
        return number;
    }
}
