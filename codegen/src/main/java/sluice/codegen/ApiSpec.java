package sluice.codegen;

import java.util.ArrayList;
import java.util.List;

/// A table of entry points with the types they need, in the order of the file.
record ApiSpec(ApiFile file, List<ApiType> types, List<EntryPoint> entries) {
    /// Every ELF symbol; a twin follows its entry point.
    List<Symbol> symbols() {
        var symbols = new ArrayList<Symbol>();
        for (var entry : entries) {
            symbols.add(new Symbol(symbols.size(), entry.symbol(), entry, false, entry.since()));
            entry.twin().ifPresent(twin -> symbols.add(
                    new Symbol(symbols.size(), entry.twinSymbol().orElseThrow(), entry, true, twin.since())));
        }
        return symbols;
    }

    List<Symbol> hooked() {
        return symbols().stream().filter(symbol -> symbol.entry().hooked()).toList();
    }

    /// Declares something of an entry point's C type; `name` may be a plain name or `(*name)`.
    String prototype(Symbol symbol, String name) {
        var parameters = symbol.entry().documented() ? Parameter.list(symbol.entry().parameters()) : "void";
        return file.resultType() + " " + name + "(" + parameters + ")";
    }
}
