package sluice.agent.metrics;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// A scraped page, taken apart by the rules of the text formats.
record MetricsText(List<Series> series, Map<String, String> types) {
    private static final Pattern LINE = Pattern.compile("([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\\{(.*)})? (\\S+)");
    private static final Pattern LABEL = Pattern.compile("([a-zA-Z_][a-zA-Z0-9_]*)=\"((?:[^\"\\\\\\n]|\\\\[\\\\\"n])*)\"(,|$)");

    record Series(String name, Map<String, String> labels, double value) {}

    static MetricsText parse(String page) {
        List<Series> series = new ArrayList<>();
        Map<String, String> types = new LinkedHashMap<>();
        for (String line : page.lines().toList()) {
            if (line.startsWith("# TYPE ")) {
                String[] words = line.split(" ");
                if (types.put(words[2], words[3]) != null) {
                    throw new AssertionError("twice: " + line);
                }
            } else if (!line.startsWith("#")) {
                series.add(series(line));
            }
        }
        return new MetricsText(series, types);
    }

    private static Series series(String line) {
        Matcher matcher = LINE.matcher(line);
        if (!matcher.matches()) {
            throw new AssertionError("not a line of the format: " + line);
        }
        Map<String, String> labels = new LinkedHashMap<>();
        String rest = matcher.group(2) == null ? "" : matcher.group(2);
        while (!rest.isEmpty()) {
            Matcher label = LABEL.matcher(rest);
            if (!label.lookingAt()) {
                throw new AssertionError("not a label: " + rest);
            }
            labels.put(label.group(1), label.group(2));
            rest = rest.substring(label.end());
        }
        return new Series(matcher.group(1), labels, Double.parseDouble(matcher.group(3)));
    }

    /// The value of the series with these labels, `name, value, name, value...`.
    double value(String name, String... labels) {
        List<Series> found = all(name, labels);
        if (found.size() != 1) {
            throw new AssertionError(name + " " + List.of(labels) + ": " + found);
        }
        return found.getFirst().value();
    }

    List<Series> all(String name, String... labels) {
        return series.stream().filter(each -> each.name().equals(name)).filter(each -> {
            for (int at = 0; at < labels.length; at += 2) {
                if (!labels[at + 1].equals(each.labels().get(labels[at]))) {
                    return false;
                }
            }
            return true;
        }).toList();
    }

    Set<String> names() {
        Set<String> names = new LinkedHashSet<>();
        series.forEach(each -> names.add(each.name()));
        return names;
    }
}
