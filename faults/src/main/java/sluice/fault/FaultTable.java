package sluice.fault;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.ToLongFunction;
import java.util.stream.Collectors;

/// What was attacked, and whether it held: a row for each kind and target. `toString` is the table.
public record FaultTable(List<Row> rows, List<String> failures) {
    public record Row(Fault.Kind kind, String of, long tests, long held, long failed, long skipped, double seconds) {}

    private static final String HEAD = "%-14s%-58s%6s%6s%8s%9s%9s";
    private static final String LINE = "%-14s%-58s%6d%6d%8d%9d%9.1f";

    /// The notes of the build that runs, as its tests know the file.
    public static FaultTable ofThisBuild() {
        return read(Path.of(System.getProperty(FaultListener.FILE, "target/faults")));
    }

    static FaultTable read(Path file) {
        try {
            return of(FaultNote.read(file));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static FaultTable of(List<FaultNote> notes) {
        Map<Fault.Kind, Map<String, List<FaultNote>>> groups = notes.stream().collect(
                Collectors.groupingBy(FaultNote::kind, TreeMap::new, Collectors.groupingBy(FaultNote::of, TreeMap::new, Collectors.toList())));
        List<Row> rows = groups.values().stream().flatMap(ofKind -> ofKind.values().stream()).map(FaultTable::row).toList();
        return new FaultTable(rows, notes.stream().filter(note -> note.result() == FaultNote.Result.FAILED).map(FaultNote::test).sorted().toList());
    }

    private static Row row(List<FaultNote> notes) {
        FaultNote first = notes.getFirst();
        return new Row(first.kind(), first.of(), notes.size(), count(notes, FaultNote.Result.HELD), count(notes, FaultNote.Result.FAILED),
                count(notes, FaultNote.Result.SKIPPED), notes.stream().mapToDouble(FaultNote::seconds).sum());
    }

    private static long count(List<FaultNote> notes, FaultNote.Result result) {
        return notes.stream().filter(note -> note.result() == result).count();
    }

    public long tests(Fault.Kind kind) {
        return rows.stream().filter(row -> row.kind() == kind).mapToLong(Row::tests).sum();
    }

    @Override
    public String toString() {
        StringBuilder text = new StringBuilder("Faults and attacks\n");
        text.append(String.format(HEAD, "kind", "attacked", "tests", "held", "failed", "skipped", "seconds")).append('\n');
        rows.stream().sorted(Comparator.comparing(Row::kind)).forEach(row -> text.append(String.format(Locale.ROOT, LINE, row.kind().text(), row.of(),
                row.tests(), row.held(), row.failed(), row.skipped(), row.seconds())).append('\n'));
        text.append(String.format(Locale.ROOT, LINE, "all", "", sum(Row::tests), sum(Row::held), sum(Row::failed), sum(Row::skipped),
                rows.stream().mapToDouble(Row::seconds).sum()));
        failures.forEach(test -> text.append("\n  failed: ").append(test));
        return text.toString();
    }

    private long sum(ToLongFunction<Row> column) {
        return rows.stream().mapToLong(column).sum();
    }
}
