package sluice.proof.bench.compute;

import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import sluice.proof.bench.JsonText;

/// The results of the benchmark of shares.
///
/// @param seconds length of each run
/// @param plots   SVG pictures by their names
public record ComputeReport(
        String gpu, boolean simulated, String machine, double seconds, int repeats, List<ResultTable> tables, Map<String, String> plots) {

    public boolean noneMissed() {
        return tables.stream().flatMap(table -> table.rows().stream()).allMatch(Row::met);
    }

    public String markdown() {
        return tables.stream().map(ResultTable::markdown).collect(Collectors.joining("\n",
                String.format(Locale.ROOT, "GPU: %s%s; %s; runs of %.0f s, %d interleaved repeats; median (least … greatest) of the repeats. "
                                + "Busy time is told by stamps of the kernels themselves, with gaps under 3 µs.%s%n%n",
                        gpu, simulated ? " (simulated)" : "", machine, seconds, repeats,
                        simulated ? " The targets are those for the simulated GPU, wider than for a real one." : ""),
                ""));
    }

    public String json() {
        return tables.stream().map(ComputeReport::object).collect(Collectors.joining(",\n    ",
                "{\n  \"gpu\": " + JsonText.quoted(gpu) + ", \"simulated\": " + simulated + ", \"machine\": " + JsonText.quoted(machine)
                        + ", \"seconds\": " + JsonText.number(seconds) + ", \"repeats\": " + repeats + ",\n  \"tables\": [\n    ",
                "\n  ]\n}\n"));
    }

    private static String object(ResultTable table) {
        return table.rows().stream().map(row -> object(table, row)).collect(Collectors.joining(",\n      ",
                "{\"table\": " + JsonText.quoted(table.word()) + ", \"columns\": " + JsonText.texts(table.columns()) + ", \"rows\": [\n      ",
                "\n    ]}"));
    }

    private static String object(ResultTable table, Row row) {
        return "{\"name\": " + JsonText.quoted(row.name()) + ", \"cells\": " + JsonText.texts(row.cells())
                + ", \"target\": " + JsonText.quoted(row.target()) + ", \"met\": " + row.met()
                + (row.values().isEmpty() ? "" : row.values().entrySet().stream().map(value -> JsonText.quoted(value.getKey()) + ": " + JsonText.number(value.getValue()))
                        .collect(Collectors.joining(", ", ", \"values\": {", "}"))) + "}";
    }
}
