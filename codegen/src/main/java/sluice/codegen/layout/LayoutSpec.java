package sluice.codegen.layout;

import java.util.List;

/// The layout of a shared file: records with their fields, and the places where they lie in it.
public record LayoutSpec(
        LayoutFile file, int layout, String magic, int pageBytes, List<String> rules, List<Record> records, List<Place> places,
        List<Value> values) {

    public record Record(String name, int bytes, List<Field> fields, int line) {
        int usedBytes() {
            return fields.isEmpty() ? 0 : fields.getLast().offset() + fields.getLast().type().bytes();
        }
    }

    record Field(
            String name, FieldType type, List<String> writers, Order order, String meaning, String afterCrash, int offset, int line) {
        boolean concurrent() {
            return order.concurrent();
        }
    }

    /// A number that a field may have.
    record Value(String name, int number, String meaning, int line) {}

    /// The note is the comment directly above the place, for people.
    record Place(Record record, long offset, int count, String note, int line) {
        /// As many records as the file says itself.
        boolean isOpen() {
            return count == 0;
        }

        long end() {
            return offset + (long) record.bytes() * count;
        }
    }

    /// Size of the file: up to the end of the page on which the last record ends.
    long fileBytes() {
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
