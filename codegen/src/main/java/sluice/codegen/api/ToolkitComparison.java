package sluice.codegen.api;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;

/// Compares the table with a toolkit: which entry points, versions, per-thread twins and parameter types differ.
///
/// The headers name versions, the table names symbols. The k-th version of a name is the symbol `<name>_v<k>`, the first
/// one is `<name>` itself; a twin belongs to the newest version that is not newer than the twin.
public final class ToolkitComparison {
    private final ApiSpec cuda;
    private final Map<String, Symbol> symbols;
    private final Set<String> types;
    private final List<String> differences = new ArrayList<>();

    private ToolkitComparison(ApiSpec cuda) {
        this.cuda = cuda;
        symbols = cuda.symbols().stream()
                .filter(symbol -> symbol.entry().documented())
                .collect(Collectors.toMap(Symbol::name, symbol -> symbol));
        types = cuda.types().stream().map(ApiType::name).collect(Collectors.toSet());
    }

    public static List<String> of(ApiSpec cuda, ToolkitHeaders headers) {
        var comparison = new ToolkitComparison(cuda);
        comparison.compare(headers);
        return List.copyOf(comparison.differences);
    }

    private void compare(ToolkitHeaders headers) {
        var versions = versions(headers);
        var seen = new HashSet<String>();
        for (var function : headers.functions()) {
            var symbol = symbol(function, versions.getOrDefault(function.name(), new TreeMap<>()));
            seen.add(symbol);
            compare(symbol, function);
        }
        cuda.symbols().stream()
                .filter(symbol -> symbol.entry().documented() && !seen.contains(symbol.name()))
                .forEach(symbol -> differences.add(symbol.name() + ": not in the toolkit"));
        var names = cuda.entries().stream().map(EntryPoint::apiName).collect(Collectors.toSet());
        var typed = headers.functions().stream().map(ToolkitHeaders.Function::name).collect(Collectors.toSet());
        headers.declared().stream()
                .map(symbol -> symbol.replaceFirst("_v\\d+$", ""))
                .distinct()
                .filter(name -> !names.contains(name) && !typed.contains(name))
                .forEach(name -> differences.add(name + ": missing; declared in cuda.h without a function pointer type"));
    }

    private static Map<String, NavigableMap<Integer, String>> versions(ToolkitHeaders headers) {
        var versions = new HashMap<String, NavigableMap<Integer, String>>();
        headers.functions().stream().filter(function -> function.suffix().isEmpty()).forEach(function ->
                versions.computeIfAbsent(function.name(), _ -> new TreeMap<>()).put(function.version(), ""));
        versions.forEach((name, byVersion) -> {
            int generation = 1;
            for (var version : byVersion.keySet()) {
                byVersion.put(version, generation == 1 ? name : name + "_v" + generation);
                generation++;
            }
        });
        return versions;
    }

    private static String symbol(ToolkitHeaders.Function function, NavigableMap<Integer, String> versions) {
        var base = versions.floorEntry(function.version());
        var symbol = base == null ? function.name() : base.getValue();
        return function.suffix().map(suffix -> symbol + "_" + suffix).orElse(symbol);
    }

    private void compare(String name, ToolkitHeaders.Function function) {
        var header = function.types().stream().map(this::canonical).collect(Collectors.joining(", "));
        var symbol = symbols.get(name);
        if (symbol == null) {
            differences.add("%s: missing; since %d, parameters (%s)".formatted(name, function.version(), header));
            return;
        }
        if (symbol.since() != function.version()) {
            differences.add("%s: since %d here, %d in the toolkit".formatted(name, symbol.since(), function.version()));
        }
        var here = symbol.entry().parameters().stream().map(Parameter::type).collect(Collectors.joining(", "));
        if (!here.equals(header)) {
            differences.add("%s: parameters (%s) here, (%s) in the toolkit".formatted(name, here, header));
        }
    }

    /// `X_vN` means `X` unless the table declares `X_vN` itself, and `unsigned` alone is an int.
    private String canonical(String type) {
        var words = new ArrayList<String>();
        for (var word : type.replaceAll("\\bunsigned(?! (int|char|short|long))", "unsigned int").split(" ")) {
            words.add(types.contains(word) ? word : word.replaceFirst("_v\\d+$", ""));
        }
        return String.join(" ", words);
    }
}
