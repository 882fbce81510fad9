package sluice.codegen.api;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import sluice.codegen.text.Problems;

/// Parses a table of entry points. The format is described at the head of `spec/cuda.api`.
public final class ApiParser {
    private static final Pattern TWIN = Pattern.compile("(ptsz|ptds):(\\d+)");
    private static final String COLUMNS = "symbol, since, per-thread, role, hook, parameters";

    private final ApiFile api;
    private final String path;
    private final Problems problems;
    private final TypeReader types = new TypeReader();
    private final DeclarationParser declarations = new DeclarationParser(types);
    private final List<EntryPoint> entries = new ArrayList<>();
    private String group = "";

    private ApiParser(ApiFile api, String path, Problems problems) {
        this.api = api;
        this.path = path;
        this.problems = problems;
    }

    public static ApiSpec parse(ApiFile api, String path, List<String> lines, Problems problems) {
        var parser = new ApiParser(api, path, problems);
        var comment = Optional.<String>empty();
        for (int number = 1; number <= lines.size(); number++) {
            var line = lines.get(number - 1).strip();
            if (line.startsWith("#")) {
                comment = comment.isPresent() ? comment : Optional.of(line.substring(1).strip());
            } else {
                comment.filter(_ -> !line.isEmpty()).ifPresent(heading -> parser.group = heading);
                comment = Optional.empty();
                parser.line(number, line);
            }
        }
        ApiRules.check(parser.entries, path, problems);
        return new ApiSpec(api, parser.types.declared(), List.copyOf(parser.entries));
    }

    private void line(int number, String line) {
        if (line.isEmpty()) {
            return;
        }
        var words = line.split("\\s+", 2);
        try {
            if (DeclarationParser.isKeyword(words[0])) {
                declarations.parse(words[0], words.length == 1 ? "" : words[1]);
            } else {
                entry(number, line.split("\\s+", 6));
            }
        } catch (TypeReader.Unreadable unreadable) {
            problems.report(path, number, unreadable.getMessage());
        }
    }

    private void entry(int number, String[] columns) throws TypeReader.Unreadable {
        if (!columns[0].matches(api.prefix() + "\\w+")) {
            throw new TypeReader.Unreadable("'%s' is neither one of %s nor an entry point, which begins with '%s'"
                    .formatted(columns[0], DeclarationParser.keywords(), api.prefix()));
        }
        if (columns.length != 6) {
            throw new TypeReader.Unreadable("%d columns instead of 6: %s".formatted(columns.length, COLUMNS));
        }
        var documented = !columns[5].equals("?");
        var since = columns[1].equals("0") && !documented ? 0 : version(columns[1]);
        var role = Role.of(columns[3]).orElseThrow(() -> new TypeReader.Unreadable(
                "unknown role '" + columns[3] + "'; one of " + Role.words()));
        var hook = Hook.of(columns[4]).orElseThrow(() -> new TypeReader.Unreadable(
                "unknown hook '" + columns[4] + "'; one of " + Hook.words()));
        if (hook != Hook.NONE && !documented) {
            throw new TypeReader.Unreadable("'" + columns[0] + "' is hooked but has no parameters; write them out");
        }
        if (!hook.roles().contains(role)) {
            throw new TypeReader.Unreadable("'" + columns[0] + "' is " + columns[4] + ", but only calls of role "
                    + hook.roles().stream().map(Role::word).collect(Collectors.joining(", ")) + " can be");
        }
        entries.add(new EntryPoint(columns[0], since, twin(columns[2]), role, hook, documented,
                documented ? types.parameters(columns[5]) : List.of(), group, number));
    }

    private Optional<EntryPoint.Twin> twin(String column) throws TypeReader.Unreadable {
        if (column.equals("-")) {
            return Optional.empty();
        }
        var match = TWIN.matcher(column);
        if (!match.matches()) {
            throw new TypeReader.Unreadable(
                    "bad per-thread twin '" + column + "'; write ptsz:VERSION, ptds:VERSION or -");
        }
        return Optional.of(new EntryPoint.Twin(match.group(1), version(match.group(2))));
    }

    private int version(String text) throws TypeReader.Unreadable {
        var version = text.matches("\\d{1,6}") ? Integer.parseInt(text) : -1;
        if (!api.isVersion(version)) {
            throw new TypeReader.Unreadable("bad version '" + text + "'; " + api.versionRule());
        }
        return version;
    }
}
