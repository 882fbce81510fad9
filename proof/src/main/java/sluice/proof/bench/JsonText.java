package sluice.proof.bench;

import java.util.Collection;
import java.util.Locale;
import java.util.stream.Collectors;

/// Values as JSON.
public final class JsonText {
    private JsonText() {}

    public static String quoted(String text) {
        return '"' + text.replace("\\", "\\\\").replace("\"", "\\\"").replaceAll("\\p{Cntrl}", " ") + '"';
    }

    public static String number(double value) {
        return String.format(Locale.ROOT, "%.3f", value);
    }

    static String numbers(Collection<Double> values) {
        return values.stream().map(JsonText::number).collect(Collectors.joining(", ", "[", "]"));
    }

    public static String texts(Collection<String> values) {
        return values.stream().map(JsonText::quoted).collect(Collectors.joining(", ", "[", "]"));
    }
}
