package sluice.it.compatibility;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// Reads the files of Alnair's profiler and interposer as their formats are described, and refuses anything else in them.
///
/// Profiler, `metrics.log`. First generation: three lines for each function, `name:`, `count:`, `burst:`. Later ones: a line
/// `name:mem_used,count:<bytes>`, then one line for each function, `name:<f>,count:<n>,burst:<us>`.
/// Profiler, `timeline.log`, a line for each call. First: `name:<f> start:<ns> burst:<us>`, single spaces. Second:
/// `name:<f>, start:<ns>, burst:<us>, bytes:<n>`. Third: the same and `, kind:<k>`, -1 to 4.
/// Interposer, `metrics.log`: `pid:`, `kernel-cnt:`, `mem-used:`, `token-cnt:`, one line each.
final class AlnairFiles {
    enum Generation {
        V1("v1"), V1_5("v1.5"), V2("v2");

        final String selector;

        Generation(String selector) {
            this.selector = selector;
        }
    }

    record Function(String name, long count, long burstMicros) {}

    record Metrics(long usedBytes, List<Function> functions) {
        Function of(String name) {
            return functions.stream().filter(function -> function.name().equals(name)).findFirst().orElseThrow();
        }

        List<String> names() {
            return functions.stream().map(Function::name).toList();
        }
    }

    record Event(String name, long startNanos, long burstMicros, long bytes, int kind) {}

    record Workspace(long pid, long kernels, long usedBytes, long tokens) {}

    private static final Pattern FUNCTION_LINE = Pattern.compile("name:(\\w+),count:(\\d+),burst:(\\d+)");
    private static final List<Pattern> EVENT_LINES = List.of(
            Pattern.compile("name:(\\w+) start:(\\d+) burst:(\\d+)"),
            Pattern.compile("name:(\\w+), start:(\\d+), burst:(\\d+), bytes:(\\d+)"),
            Pattern.compile("name:(\\w+), start:(\\d+), burst:(\\d+), bytes:(\\d+), kind:(-1|[0-4])"));

    private AlnairFiles() {}

    static Metrics metrics(Path file, Generation generation) throws IOException {
        List<String> lines = lines(file);
        return generation == Generation.V1 ? blocks(lines) : rows(lines);
    }

    private static Metrics blocks(List<String> lines) {
        if (lines.size() % 3 != 0) {
            throw new AssertionError("not three lines for each function: " + lines);
        }
        var functions = new ArrayList<Function>();
        for (int at = 0; at < lines.size(); at += 3) {
            functions.add(new Function(value(lines.get(at), "name"), number(lines.get(at + 1), "count"), number(lines.get(at + 2), "burst")));
        }
        return new Metrics(0, functions);
    }

    private static Metrics rows(List<String> lines) {
        long used = number(lines.getFirst(), "name:mem_used,count");
        return new Metrics(used, lines.stream().skip(1).map(line -> {
            Matcher row = match(FUNCTION_LINE, line);
            return new Function(row.group(1), Long.parseLong(row.group(2)), Long.parseLong(row.group(3)));
        }).toList());
    }

    static List<Event> timeline(Path file, Generation generation) throws IOException {
        return lines(file).stream().map(line -> {
            Matcher event = match(EVENT_LINES.get(generation.ordinal()), line);
            return new Event(event.group(1), Long.parseLong(event.group(2)), Long.parseLong(event.group(3)),
                    event.groupCount() > 3 ? Long.parseLong(event.group(4)) : 0,
                    event.groupCount() > 4 ? Integer.parseInt(event.group(5)) : -1);
        }).toList();
    }

    static Workspace workspace(Path file) throws IOException {
        List<String> lines = lines(file);
        if (lines.size() != 4) {
            throw new AssertionError("not four lines: " + lines);
        }
        return new Workspace(number(lines.get(0), "pid"), number(lines.get(1), "kernel-cnt"), number(lines.get(2), "mem-used"),
                number(lines.get(3), "token-cnt"));
    }

    private static List<String> lines(Path file) throws IOException {
        String text = Files.readString(file);
        if (!text.endsWith("\n")) {
            throw new AssertionError("no whole lines: " + text);
        }
        return List.of(text.substring(0, text.length() - 1).split("\n", -1));
    }

    private static Matcher match(Pattern pattern, String line) {
        Matcher matcher = pattern.matcher(line);
        if (!matcher.matches()) {
            throw new AssertionError("'" + line + "' is not " + pattern);
        }
        return matcher;
    }

    private static String value(String line, String key) {
        if (!line.startsWith(key + ":")) {
            throw new AssertionError("'" + line + "' is not " + key + ":");
        }
        return line.substring(key.length() + 1);
    }

    private static long number(String line, String key) {
        return Long.parseLong(value(line, key));
    }
}
