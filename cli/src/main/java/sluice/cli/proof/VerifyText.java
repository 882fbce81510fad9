package sluice.cli.proof;

import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import sluice.cli.output.Json;
import sluice.cli.output.Screen;
import sluice.cli.output.Text;
import sluice.proof.bench.Standstill;
import sluice.proof.checks.Check;
import sluice.proof.checks.Result;
import sluice.proof.checks.Result.Outcome;

/// The table of checks, written line by line as the results come.
final class VerifyText {
    private final int nameWidth;
    private final Screen screen;
    private String group = "";

    VerifyText(List<Check> checks, Screen screen) {
        nameWidth = checks.stream().mapToInt(check -> check.name().length()).max().orElse(0);
        this.screen = screen;
    }

    List<String> lines(Result result) {
        List<String> lines = new ArrayList<>();
        if (!result.group().equals(group)) {
            group = result.group();
            lines.add(screen.bold(group));
        }
        String padding = " ".repeat(Math.max(0, nameWidth - result.name().length()));
        lines.add("  " + mark(result.outcome()) + "  " + result.name() + padding + "  " + Text.visible(result.detail()));
        return lines;
    }

    private String mark(Outcome outcome) {
        return switch (outcome) {
            case PASSED -> screen.green("ok  ");
            case FAILED -> screen.red("FAIL");
            case SKIPPED -> screen.yellow("skip");
        };
    }

    String summary(List<Result> results) {
        long failed = count(results, Outcome.FAILED);
        long skipped = count(results, Outcome.SKIPPED);
        long seconds = results.stream().mapToLong(result -> result.duration().toMillis()).sum() / 1000;
        String text = (results.size() - failed - skipped) + " hold, " + failed + " fail, " + skipped + " skipped, in " + seconds + " s";
        return failed == 0 ? screen.green(text) : screen.red(text);
    }

    /// @param done completed checks
    static String interrupted(int done, int all) {
        return "interrupted after " + done + (done == 1 ? " check" : " checks") + " of " + all;
    }

    /// A possible reason why a check that measures time failed.
    static Optional<String> blame(Standstill still) {
        return still.isRestless()
                ? Optional.of("This machine " + still.text() + ": checks that measure time may fail because of that.")
                : Optional.empty();
    }

    private static long count(List<Result> results, Outcome outcome) {
        return results.stream().filter(result -> result.outcome() == outcome).count();
    }

    static void writeJson(PrintWriter out, boolean simulated, List<Result> results) {
        Json.write(out, json -> {
            json.writeStartObject();
            json.writeBooleanProperty("simulated", simulated);
            json.writeArrayPropertyStart("checks");
            for (Result result : results) {
                json.writeStartObject();
                json.writeStringProperty("group", result.group());
                json.writeStringProperty("name", result.name());
                json.writeStringProperty("outcome", result.outcome().name().toLowerCase(Locale.ROOT));
                json.writeStringProperty("detail", result.detail());
                json.writeNumberProperty("millis", result.duration().toMillis());
                json.writeEndObject();
            }
            json.writeEndArray();
            json.writeEndObject();
        });
    }
}
