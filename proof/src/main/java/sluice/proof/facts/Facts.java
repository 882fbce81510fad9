package sluice.proof.facts;

import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.stream.Collectors;

/// The report of a probe: one line of `key=value`, separated by tabs.
public record Facts(Map<String, String> values) {

    public static Facts of(Object... keysAndValues) {
        Map<String, String> values = new LinkedHashMap<>();
        for (int i = 0; i < keysAndValues.length; i += 2) {
            values.put(keysAndValues[i].toString(), oneWord(keysAndValues[i + 1]));
        }
        return new Facts(values);
    }

    public static Facts parse(String line) {
        return new Facts(Arrays.stream(line.split("\t"))
                .map(fact -> fact.split("=", 2))
                .filter(fact -> fact.length == 2)
                .collect(Collectors.toMap(fact -> fact[0], fact -> fact[1], (first, last) -> last, LinkedHashMap::new)));
    }

    private static String oneWord(Object value) {
        return String.valueOf(value).replaceAll("[\t\n]+", " ");
    }

    public String line() {
        return values.entrySet().stream()
                .map(fact -> fact.getKey() + "=" + fact.getValue())
                .collect(Collectors.joining("\t"));
    }

    public boolean has(String key) {
        return values.containsKey(key);
    }

    public String text(String key) {
        String value = values.get(key);
        if (value == null) {
            throw new IllegalArgumentException("the probe did not report '" + key + "' but: " + line());
        }
        return value;
    }

    public long number(String key) {
        return Long.parseLong(text(key));
    }

    public double decimal(String key) {
        return Double.parseDouble(text(key));
    }

    public int status() {
        return (int) number("status");
    }
}
