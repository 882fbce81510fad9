package sluice.agent.metrics;

import java.util.LinkedHashSet;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// The names in a query of Prometheus: of metrics, and of labels.
record MetricsQuery(String text, Set<String> metrics, Set<String> labels) {
    private static final Set<String> WORDS = Set.of("and", "or", "unless", "by", "without", "on", "ignoring", "bool", "offset");
    private static final Pattern STRING = Pattern.compile("\"(?:[^\"\\\\]|\\\\.)*\"");
    private static final Pattern SELECTOR = Pattern.compile("\\{([^}]*)}");
    private static final Pattern GROUPING = Pattern.compile("\\b(?:by|without|on|ignoring)\\s*\\(([^)]*)\\)");
    private static final Pattern RANGE = Pattern.compile("\\[[^]]*]");
    private static final Pattern NAME = Pattern.compile("(?<![\\w$.])[a-zA-Z_:][\\w:]*(?!\\w)(?!\\s*\\()");

    static MetricsQuery of(String text) {
        Set<String> labels = new LinkedHashSet<>();
        String rest = STRING.matcher(text).replaceAll("''");
        rest = take(SELECTOR, rest, labels);
        rest = take(GROUPING, rest, labels);
        Set<String> metrics = new LinkedHashSet<>();
        Matcher names = NAME.matcher(RANGE.matcher(rest).replaceAll(""));
        while (names.find()) {
            metrics.add(names.group());
        }
        metrics.removeAll(WORDS);
        return new MetricsQuery(text, metrics, labels);
    }

    private static String take(Pattern pattern, String text, Set<String> labels) {
        Matcher matcher = pattern.matcher(text);
        while (matcher.find()) {
            Matcher names = NAME.matcher(matcher.group(1));
            while (names.find()) {
                labels.add(names.group());
            }
        }
        return matcher.replaceAll(" ");
    }
}
