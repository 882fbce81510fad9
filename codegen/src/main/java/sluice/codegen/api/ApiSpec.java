package sluice.codegen.api;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/// A table of entry points with the types they need, in the order of the file.
public record ApiSpec(ApiFile file, List<ApiType> types, List<EntryPoint> entries) {
    /// Every ELF symbol; a twin follows its entry point.
    public List<Symbol> symbols() {
        var symbols = new ArrayList<Symbol>();
        for (var entry : entries) {
            symbols.add(new Symbol(symbols.size(), entry.symbol(), entry, false, entry.since()));
            entry.twin().ifPresent(twin -> symbols.add(
                    new Symbol(symbols.size(), entry.twinSymbol().orElseThrow(), entry, true, twin.since())));
        }
        return symbols;
    }

    public List<Symbol> hooked() {
        return symbols().stream().filter(symbol -> symbol.entry().hooked()).toList();
    }

    /// The entry points with an exported wrapper: all of CUDA with a prototype, because their calls are watched. The hooked ones come first,
    /// so that the hook is found if the driver has two names for one function.
    public List<Symbol> wrapped() {
        if (file != ApiFile.CUDA) {
            return hooked();
        }
        return symbols().stream()
                .filter(symbol -> symbol.entry().documented())
                .sorted(Comparator.comparing(symbol -> !symbol.entry().hooked()))
                .toList();
    }

    /// The fields of a type, where the table has them.
    Optional<ApiType.Struct> struct(String name) {
        return types.stream()
                .filter(ApiType.Struct.class::isInstance)
                .map(ApiType.Struct.class::cast)
                .filter(struct -> struct.name().equals(name))
                .findFirst();
    }

    /// Declares a name with an entry point's C type; `name` may be a plain name or `(*name)`.
    public String prototype(Symbol symbol, String name) {
        var parameters = symbol.entry().documented() ? Parameter.list(symbol.entry().parameters()) : "void";
        return file.resultType() + " " + name + "(" + parameters + ")";
    }
}
