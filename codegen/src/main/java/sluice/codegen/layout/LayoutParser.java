package sluice.codegen.layout;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import sluice.codegen.text.Problems;

/// Parses the layout of a shared file. The format is described at the head of `spec/region.abi`.
public final class LayoutParser {
    private static final Pattern NAME = Pattern.compile("[a-z][a-z0-9_]*");
    private static final Pattern RULE = Pattern.compile("#\\s+(\\d+)\\. (.*)");
    private static final Pattern SINCE = Pattern.compile("(\\S+)\\s+since\\s+([1-9]\\d{0,3})");
    private static final Set<String> WRITERS = Set.of("creator", "tools", "library");
    private static final List<String> NOBODY = List.of("-");
    private static final String COLUMNS = "field | type | written by | order | meaning | after a crash";

    private final String path;
    private final Problems problems;
    private final List<LayoutSpec.Record> records = new ArrayList<>();
    private final List<LayoutSpec.Place> places = new ArrayList<>();
    private final List<LayoutSpec.Value> values = new ArrayList<>();
    private final List<LayoutSpec.Feature> features = new ArrayList<>();
    private final List<String> rules = new ArrayList<>();
    private List<LayoutSpec.Field> fields = new ArrayList<>();
    private int layout;
    private int revision;
    private int givenBytes;
    private String magic = "";
    private int pageBytes;
    private boolean inRules;
    private String note = "";

    private LayoutParser(String path, Problems problems) {
        this.path = path;
        this.problems = problems;
    }

    public static LayoutSpec parse(LayoutFile file, String path, List<String> lines, Problems problems) {
        var parser = new LayoutParser(path, problems);
        for (int number = 1; number <= lines.size(); number++) {
            var line = lines.get(number - 1);
            if (line.startsWith("#")) {
                parser.comment(line);
            } else {
                parser.line(number, line.strip());
                parser.inRules = false;
                parser.note = "";
            }
        }
        var spec = new LayoutSpec(file, parser.layout, parser.revision, parser.magic, parser.pageBytes, parser.givenBytes, List.copyOf(parser.rules),
                List.copyOf(parser.records), List.copyOf(parser.places), List.copyOf(parser.values), List.copyOf(parser.features));
        LayoutRules.check(spec, path, Math.max(1, lines.size()), problems);
        return spec;
    }

    private void comment(String line) {
        note = line.substring(1).strip();
        var match = RULE.matcher(line);
        if (match.matches()) {
            rules.add(match.group(2));
            inRules = true;
        } else if (inRules && line.startsWith("#    ")) {
            rules.add(rules.removeLast() + " " + line.substring(1).strip());
        }
    }

    private void line(int number, String line) {
        if (line.isEmpty()) {
            return;
        }
        if (line.contains("|") && !line.startsWith("value ") && !line.startsWith("feature ")) {
            field(number, line.split("\\|", -1));
            return;
        }
        var words = line.split("\\s+");
        switch (words[0]) {
            case "layout" -> layout = one(number, words, "layout N");
            case "revision" -> revision = one(number, words, "revision N");
            case "page" -> pageBytes = one(number, words, "page BYTES");
            case "bytes" -> givenBytes = one(number, words, "bytes N");
            case "magic" -> magic(number, words);
            case "record" -> record(number, words);
            case "place" -> place(number, words);
            case "value" -> value(number, line.split("\\s+", 4));
            case "feature" -> feature(number, line.split("\\s+", 5));
            default -> problems.report(path, number,
                    "unknown directive '" + words[0] + "'; one of layout, revision, magic, page, bytes, feature, value, record, place");
        }
    }

    private int one(int number, String[] words, String form) {
        if (words.length == 2 && words[1].matches("[1-9]\\d{0,7}")) {
            return Integer.parseInt(words[1]);
        }
        problems.report(path, number, "write: " + form);
        return 1;
    }

    private void magic(int number, String[] words) {
        if (words.length == 2 && words[1].matches("[A-Z]{1,8}")) {
            magic = words[1];
        } else {
            problems.report(path, number, "write: magic TEXT, with at most 8 capital letters");
        }
    }

    private void record(int number, String[] words) {
        if (words.length != 3 || !NAME.matcher(words[1]).matches() || !words[2].matches("[1-9]\\d{0,6}")) {
            problems.report(path, number, "write: record NAME SIZE");
            return;
        }
        fields = new ArrayList<>();
        records.add(new LayoutSpec.Record(words[1], Integer.parseInt(words[2]), fields, number));
    }

    private void place(int number, String[] words) {
        boolean later = words.length == 6 && words[4].equals("since") && words[5].matches("[1-9]\\d{0,3}");
        if (words.length != 4 && !later || !words[2].matches("\\d{1,12}") || !words[3].matches("[1-9]\\d{0,6}|\\*")) {
            problems.report(path, number, "write: place RECORD OFFSET COUNT, or that and since REVISION");
            return;
        }
        int since = later ? Integer.parseInt(words[5]) : 0;
        records.stream().filter(record -> record.name().equals(words[1])).findFirst().ifPresentOrElse(
                record -> places.add(new LayoutSpec.Place(
                        record, Long.parseLong(words[2]), words[3].equals("*") ? 0 : Integer.parseInt(words[3]), since, note, number)),
                () -> problems.report(path, number, "unknown record '" + words[1] + "'"));
    }

    private void value(int number, String[] words) {
        if (words.length == 4 && NAME.matcher(words[1]).matches() && words[2].matches("\\d{1,6}")) {
            values.add(new LayoutSpec.Value(words[1], Integer.parseInt(words[2]), words[3], number));
        } else {
            problems.report(path, number, "write: value NAME NUMBER MEANING");
        }
    }

    private void feature(int number, String[] words) {
        if (words.length == 5 && NAME.matcher(words[1]).matches() && words[2].matches("\\d{1,2}") && words[3].matches("offered|required")) {
            features.add(new LayoutSpec.Feature(words[1], Integer.parseInt(words[2]), words[3].equals("required"), words[4], number));
        } else {
            problems.report(path, number, "write: feature NAME BIT offered MEANING, or required in the place of offered");
        }
    }

    private void field(int number, String[] columns) {
        if (columns.length != 6) {
            problems.report(path, number, columns.length + " columns instead of 6: " + COLUMNS);
            return;
        }
        for (int i = 0; i < columns.length; i++) {
            columns[i] = columns[i].strip();
        }
        var later = SINCE.matcher(columns[0]);
        int since = later.matches() ? Integer.parseInt(later.group(2)) : 0;
        columns[0] = later.matches() ? later.group(1) : columns[0];
        var type = FieldType.of(columns[1]);
        var writers = List.of(columns[2].split(",\\s*", -1));
        var order = Order.of(columns[3]);
        if (records.isEmpty()) {
            problems.report(path, number, "field '" + columns[0] + "' stands before the first record");
        } else if (!NAME.matcher(columns[0]).matches()) {
            problems.report(path, number, "bad name '" + columns[0] + "'; small letters, digits and _ only");
        } else if (type.isEmpty()) {
            problems.report(path, number,
                    "unknown type '" + columns[1] + "'; one of u16, u32, u64, i32, i64, char[N], u8[N], or an array of a number");
        } else if (!writers.equals(NOBODY) && !WRITERS.containsAll(writers)) {
            problems.report(path, number, "unknown writer '" + columns[2] + "'; one or more of creator, tools, library, or -");
        } else if (order.isEmpty()) {
            problems.report(path, number, "unknown order '" + columns[3] + "'; one of " + Order.words());
        } else {
            var offset = fields.isEmpty() ? 0 : fields.getLast().end();
            fields.add(new LayoutSpec.Field(
                    columns[0], type.get(), writers, order.get(), columns[4], columns[5], since, offset, number));
        }
    }
}
