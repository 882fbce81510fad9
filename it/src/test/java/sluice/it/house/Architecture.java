package sluice.it.house;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/// Reads the sources of all modules and lists what breaks the directions.
final class Architecture {
    private static final int MOST_FILES = 25;
    private static final Pattern PACKAGE = Pattern.compile("^package ([\\w.]+);", Pattern.MULTILINE);
    private static final Pattern OURS = Pattern.compile("\\bsluice((?:\\.[a-z]\\w*)+)\\.[A-Z*]");
    private static final Pattern THEIRS = Pattern.compile("^import (?:static )?((?!sluice\\.)[a-z]\\w*(?:\\.[a-z]\\w*)*)\\.[A-Z*]", Pattern.MULTILINE);
    private static final Pattern REQUIRES = Pattern.compile("requires (?:transitive |static )*([\\w.]+);");
    private static final Pattern COMMENT = Pattern.compile("^\\s*//.*$", Pattern.MULTILINE);
    private static final Pattern STRING = Pattern.compile("\"\"\"[\\s\\S]*?\"\"\"|\"(?:\\\\.|[^\"\\\\\n])*\"");

    private final Directions directions;
    private final List<Source> sources;
    private final List<String> problems = new ArrayList<>();

    /// @param folder of the module, in the project
    record Source(String folder, String file, String text) {
        boolean isDescriptor() {
            return file.equals("module-info.java");
        }

        boolean isClass() {
            return !isDescriptor() && !file.equals("package-info.java");
        }

        String code() {
            return STRING.matcher(COMMENT.matcher(text).replaceAll("")).replaceAll("\"\"");
        }

        /// Without `sluice.`, as in `agent.http`.
        String room() {
            Matcher found = PACKAGE.matcher(text);
            return found.find() ? found.group(1).replace("sluice.", "") : folder;
        }
    }

    private Architecture(List<Source> sources, Directions directions) {
        this.sources = sources;
        this.directions = directions;
    }

    /// The code of every module, and the tests of `it`, which is made of tests alone.
    static List<Source> read(Path root) throws IOException {
        List<Source> sources = read(root, "src/main/java");
        sources.addAll(read(root.resolve("it"), Path.of("src/test/java")));
        return sources;
    }

    /// All files below this folder of each module.
    static List<Source> read(Path root, String below) throws IOException {
        List<Source> sources = new ArrayList<>();
        try (Stream<Path> modules = Files.list(root)) {
            for (Path module : modules.filter(each -> Files.isDirectory(each.resolve(below))).sorted().toList()) {
                sources.addAll(read(module, Path.of(below)));
            }
        }
        return sources;
    }

    private static List<Source> read(Path module, Path below) throws IOException {
        List<Source> sources = new ArrayList<>();
        try (Stream<Path> files = Files.walk(module.resolve(below))) {
            for (Path file : files.filter(each -> each.toString().endsWith(".java")).sorted().toList()) {
                sources.add(new Source(module.getFileName().toString(), file.getFileName().toString(), Files.readString(file)));
            }
        }
        return sources;
    }

    /// Packages with too many files.
    static List<String> crowded(List<Source> sources) {
        Map<String, Integer> sizes = new TreeMap<>();
        sources.stream().filter(source -> !source.isDescriptor()).forEach(source -> sizes.merge(source.room(), 1, Integer::sum));
        return sizes.entrySet().stream().filter(room -> room.getValue() > MOST_FILES)
                .map(room -> room.getKey() + " has " + room.getValue() + " files; at most " + MOST_FILES + " fit into a package").toList();
    }

    static List<String> problems(List<Source> sources, Directions directions) {
        Architecture architecture = new Architecture(sources, directions);
        architecture.judgeNames();
        architecture.judgePackages();
        architecture.judgeUses();
        return architecture.problems;
    }

    /// A system test may be named like a class of the code.
    private void judgeNames() {
        Map<String, Set<String>> places = new TreeMap<>();
        sources.stream().filter(source -> source.isClass() && !source.folder().equals("it")).forEach(source -> places.computeIfAbsent(source.file(), added -> new TreeSet<>()).add(source.room()));
        places.forEach((file, rooms) -> {
            if (rooms.size() > 1) {
                problems.add(file + " is in " + String.join(" and ", rooms) + "; give each a name that says what it is");
            }
        });
    }

    private void judgePackages() {
        problems.addAll(crowded(sources));
        Map<String, List<String>> rooms = new TreeMap<>();
        sources.stream().filter(source -> !source.isDescriptor()).forEach(source -> rooms.computeIfAbsent(source.room(), added -> new ArrayList<>()).add(source.file()));
        rooms.forEach((room, files) -> {
            if (!files.contains("package-info.java")) {
                problems.add(room + " has no package-info.java; write what is in it and what it must not know");
            }
            if (directions.line(module(room), within(room)) < 0) {
                problems.add(room + " is on no line of docs/directions.txt");
            }
        });
    }

    private void judgeUses() {
        Map<String, Set<String>> graph = new TreeMap<>();
        for (Source source : sources) {
            if (source.isDescriptor()) {
                descriptor(source);
                continue;
            }
            Matcher ours = OURS.matcher(source.code());
            while (ours.find()) {
                use(source, ours.group(1).substring(1), graph);
            }
            Matcher theirs = THEIRS.matcher(source.code());
            while (theirs.find()) {
                if (!directions.mayUseLibrary(module(source.room()), theirs.group(1))) {
                    problems.add(source.room() + "/" + source.file() + " must not use " + theirs.group(1));
                }
            }
        }
        graph.keySet().forEach(room -> cycle(room, new ArrayList<>(), graph));
    }

    /// Modules that are all of others' code have no direction.
    private void descriptor(Source source) {
        Matcher requires = REQUIRES.matcher(source.code());
        while (directions.uses().containsKey(source.folder()) && requires.find()) {
            String name = requires.group(1);
            boolean may = name.startsWith("sluice.") ? directions.mayUse(source.folder(), name.substring("sluice.".length()))
                    : directions.mayUseLibrary(source.folder(), name);
            if (!may) {
                problems.add(source.folder() + "/module-info.java must not require " + name);
            }
        }
    }

    private void use(Source source, String used, Map<String, Set<String>> graph) {
        String room = source.room();
        if (room.equals(used)) {
            return;
        }
        String place = room + "/" + source.file();
        if (!module(room).equals(module(used))) {
            if (!directions.mayUse(module(room), module(used))) {
                problems.add(place + " must not use " + used + "; docs/directions.txt says what the module " + module(room) + " may use");
            }
            return;
        }
        graph.computeIfAbsent(room, added -> new TreeSet<>()).add(used);
        if (directions.line(module(room), within(used)) <= directions.line(module(room), within(room))) {
            problems.add(place + " must not use " + used + ", which is not below " + room + " in docs/directions.txt");
        }
    }

    /// Told once, from the first of its packages on.
    private void cycle(String room, List<String> way, Map<String, Set<String>> graph) {
        if (!way.isEmpty() && room.equals(way.getFirst())) {
            if (room.equals(new TreeSet<>(way).first())) {
                problems.add("packages in a cycle: " + String.join(" → ", way) + " → " + room);
            }
            return;
        }
        if (!way.contains(room)) {
            List<String> further = new ArrayList<>(way);
            further.add(room);
            new LinkedHashSet<>(graph.getOrDefault(room, Set.of())).forEach(next -> cycle(next, further, graph));
        }
    }

    private static String module(String room) {
        return room.contains(".") ? room.substring(0, room.indexOf('.')) : room;
    }

    private static String within(String room) {
        return room.contains(".") ? room.substring(room.indexOf('.') + 1) : "(root)";
    }
}
