package sluice.codegen.layout;

import java.util.Comparator;
import java.util.HashSet;
import sluice.codegen.text.Problems;

/// The rules of a layout. They make C and Java agree on it: no padding between fields, and no two fields share bytes.
final class LayoutRules {
    /// Records begin on their own cache line.
    private static final int LINE_BYTES = 64;

    private final LayoutSpec spec;
    private final String path;
    private final Problems problems;

    private LayoutRules(LayoutSpec spec, String path, Problems problems) {
        this.spec = spec;
        this.path = path;
        this.problems = problems;
    }

    static void check(LayoutSpec spec, String path, int lastLine, Problems problems) {
        var rules = new LayoutRules(spec, path, problems);
        if (spec.layout() == 0 || spec.magic().isEmpty() || spec.pageBytes() == 0) {
            problems.report(path, lastLine, "layout, magic and page must each be given once");
            return;
        }
        rules.records();
        rules.values();
        rules.features();
        rules.places();
        if (spec.givenBytes() != 0 && (spec.givenBytes() < spec.usedBytes() || spec.givenBytes() % spec.pageBytes() != 0)) {
            problems.report(path, lastLine, "bytes %d: whole pages are needed, and %d at least".formatted(spec.givenBytes(), spec.usedBytes()));
        }
    }

    private void records() {
        var names = new HashSet<String>();
        for (var record : spec.records()) {
            if (!names.add(record.name())) {
                problems.report(path, record.line(), "duplicate record '" + record.name() + "'");
            }
            if (record.bytes() % LINE_BYTES != 0) {
                problems.report(path, record.line(), "record '%s' has %d bytes, which is not a multiple of %d"
                        .formatted(record.name(), record.bytes(), LINE_BYTES));
            }
            if (record.fields().isEmpty()) {
                problems.report(path, record.line(), "record '" + record.name() + "' has no fields");
            }
            if (spec.places().stream().noneMatch(place -> place.record() == record)) {
                problems.report(path, record.line(), "record '" + record.name() + "' has no place in the file");
            }
            fields(record);
        }
    }

    /// Later fields come after earlier fields, so that no field moves.
    private void since(String kind, String name, int since, int latest, int line) {
        if (since < latest || since > spec.revision()) {
            problems.report(path, line, "%s '%s' since %d: later ones follow earlier ones, and the revision is %d"
                    .formatted(kind, name, since, spec.revision()));
        }
    }

    private void features() {
        for (int bit = 0; bit < spec.features().size(); bit++) {
            var feature = spec.features().get(bit);
            if (feature.bit() != bit || bit >= Long.SIZE) {
                problems.report(path, feature.line(), "feature '%s' has bit %d instead of %d; bits follow each other and are never used again"
                        .formatted(feature.name(), feature.bit(), bit));
            }
        }
    }

    private void fields(LayoutSpec.Record record) {
        var names = new HashSet<String>();
        int latest = 0;
        for (var field : record.fields()) {
            if (!names.add(field.name())) {
                problems.report(path, field.line(), "duplicate field '" + field.name() + "' in record '" + record.name() + "'");
            }
            if (field.offset() % field.type().alignment() != 0) {
                problems.report(path, field.line(), "misaligned field '%s': offset %d is not a multiple of %d"
                        .formatted(field.name(), field.offset(), field.type().alignment()));
            }
            if (field.end() > record.bytes()) {
                problems.report(path, field.line(), "field '%s' ends at byte %d of record '%s', which has %d"
                        .formatted(field.name(), field.end(), record.name(), record.bytes()));
            }
            since("field", field.name(), field.since(), latest, field.line());
            latest = Math.max(latest, field.since());
            if (field.concurrent() && (field.type() instanceof FieldType.Text || field.type() instanceof FieldType.Bytes)) {
                problems.report(path, field.line(), "field '%s' of type %s cannot be %s; only numbers can"
                        .formatted(field.name(), field.type().word(), field.order().word()));
            }
        }
    }

    private void values() {
        var names = new HashSet<String>();
        for (var value : spec.values()) {
            if (!names.add(value.name())) {
                problems.report(path, value.line(), "duplicate value '" + value.name() + "'");
            }
        }
    }

    private void places() {
        int latest = 0;
        for (var place : spec.places()) {
            since("place", place.record().name(), place.since(), latest, place.line());
            latest = Math.max(latest, place.since());
        }
        var placed = new HashSet<LayoutSpec.Record>();
        var previous = (LayoutSpec.Place) null;
        for (var place : spec.places().stream().sorted(Comparator.comparingLong(LayoutSpec.Place::offset)).toList()) {
            var name = place.record().name();
            if (!placed.add(place.record())) {
                problems.report(path, place.line(), "record '" + name + "' has a second place");
            }
            if (place.offset() % LINE_BYTES != 0) {
                problems.report(path, place.line(), "place of '%s' is unaligned: offset %d is not a multiple of %d"
                        .formatted(name, place.offset(), LINE_BYTES));
            }
            if (previous != null && place.offset() < previous.end()) {
                problems.report(path, place.line(), "place of '%s' at %d overlaps '%s', which ends at %d"
                        .formatted(name, place.offset(), previous.record().name(), previous.end()));
            }
            if (previous != null && previous.isOpen()) {
                problems.report(path, place.line(), "place of '%s' follows '%s', which has no end"
                        .formatted(name, previous.record().name()));
            }
            if (place.offset() < spec.pageBytes()) {
                firstPage(place);
            }
            previous = place;
        }
    }

    private void firstPage(LayoutSpec.Place place) {
        var name = place.record().name();
        if (place.end() > spec.pageBytes()) {
            problems.report(path, place.line(), "place of '" + name + "' crosses the end of page 0");
        }
        place.record().fields().stream()
                .filter(field -> spec.file().firstPageIsReadOnly() && field.writers().contains("library"))
                .findFirst()
                .ifPresent(field -> problems.report(path, place.line(),
                        "'%s' lies on page 0, which the library maps read-only, but the library writes its field '%s'"
                                .formatted(name, field.name())));
    }
}
