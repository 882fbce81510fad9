package sluice.proof.bench;

import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/// The results of a benchmark, as data, as a table for people and as JSON for programs.
///
/// @param gpu     the driver's name for the GPU
/// @param machine processor threads and kernel, to compare results by
public record BenchReport(String gpu, boolean simulated, String machine, int repeats, List<Measurement> measurements) {

    /// Whether no target is clearly missed.
    public boolean noneMissed() {
        return measurements.stream().noneMatch(one -> one.verdict() == Verdict.MISSED);
    }

    public String svg() {
        return BenchPlot.svg(this);
    }

    public String markdown() {
        StringBuilder text = new StringBuilder();
        text.append("GPU: ").append(gpu).append(simulated ? " (simulated)" : "").append("; ").append(machine)
                .append("; ").append(repeats).append(" repeats, side by side; median (minimum … maximum) of the repeats.\n\n");
        text.append("| what | without | with Sluice | added | ratio | target | |\n");
        text.append("|---|---:|---:|---:|---:|---:|---|\n");
        for (Measurement one : measurements) {
            text.append("| ").append(String.join(" | ", row(one))).append(" |\n");
        }
        return text.toString();
    }

    private static List<String> row(Measurement one) {
        Spread added = one.added();
        return List.of(one.name(),
                Nanos.format(Spread.of(one.without()).median()),
                Nanos.format(Spread.of(one.with()).median()),
                Nanos.signed(added.median()) + " (" + Nanos.signed(added.minimum()) + " … " + Nanos.signed(added.maximum()) + ")",
                String.format(Locale.ROOT, "%.2f×", one.ratio().median()),
                one.target().text(),
                one.verdict().text());
    }

    public String json() {
        return measurements.stream().map(BenchReport::object).collect(Collectors.joining(",\n    ",
                "{\n  \"gpu\": " + JsonText.quoted(gpu) + ", \"simulated\": " + simulated + ", \"machine\": " + JsonText.quoted(machine)
                        + ", \"repeats\": " + repeats + ",\n  \"measurements\": [\n    ",
                "\n  ]\n}\n"));
    }

    private static String object(Measurement one) {
        return "{\"name\": " + JsonText.quoted(one.name()) + ", \"baseline\": " + JsonText.quoted(one.baseline())
                + ", \"withoutNanos\": " + JsonText.numbers(one.without()) + ", \"withNanos\": " + JsonText.numbers(one.with())
                + ", \"addedNanos\": " + spread(one.added()) + ", \"ratio\": " + spread(one.ratio())
                + ", \"target\": " + JsonText.quoted(one.target().text()) + ", \"verdict\": " + JsonText.quoted(one.verdict().text()) + "}";
    }

    private static String spread(Spread spread) {
        return "{\"minimum\": " + JsonText.number(spread.minimum()) + ", \"median\": " + JsonText.number(spread.median())
                + ", \"maximum\": " + JsonText.number(spread.maximum()) + "}";
    }
}
