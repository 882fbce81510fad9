package sluice.codegen.api;

import java.util.List;
import java.util.Optional;

/// One line of a table: an entry point of the driver, with its twin for per-thread default streams where it has one.
/// An undocumented one is exported by the driver but has no public prototype.
public record EntryPoint(
        String symbol,
        int since,
        Optional<Twin> twin,
        Role role,
        Hook hook,
        boolean documented,
        List<Parameter> parameters,
        String group,
        int line) {

    /// The variant for per-thread default streams: `ptsz` where a stream is a parameter, `ptds` where it is implied.
    public record Twin(String suffix, int since) {}

    public boolean hooked() {
        return hook != Hook.NONE;
    }

    /// The name that is passed to cuGetProcAddress: the symbol without its `_vN`.
    public String apiName() {
        return symbol.replaceFirst("_v[0-9]+$", "");
    }

    /// N of the symbol's `_vN`, or 1.
    int generation() {
        var name = apiName();
        return name.equals(symbol) ? 1 : Integer.parseInt(symbol.substring(name.length() + 2));
    }

    Optional<String> twinSymbol() {
        return twin.map(it -> symbol + "_" + it.suffix());
    }
}
