package sluice.codegen;

import java.util.stream.Collectors;

/// `entries.c`: the names of all entry points, the exported wrappers of the hooked ones, and the table of these wrappers.
final class EntriesSource {
    private EntriesSource() {}

    static String emit(ApiSpec cuda) {
        var hooked = cuda.symbols().stream().filter(symbol -> symbol.entry().hooked()).toList();
        return """
                /* Generated from spec/cuda.api: the hooked entry points.
                 *
                 * The table holds the address of this library's own wrapper, also when another library exports the same name. */
                #include "entry.h"
                #include "hooks.h"
                #include "real.h"

                const char *const sl_entry_names[SL_REAL_COUNT] = {
                %s
                };

                %s

                const sl_entry_hook_t sl_entry_hooks[] = {
                %s
                };

                const unsigned sl_entry_hook_count = %d;
                """.formatted(
                        cuda.symbols().stream()
                                .map(symbol -> "    \"" + symbol.name() + "\",")
                                .collect(Collectors.joining("\n")),
                        hooked.stream().map(EntriesSource::wrapper).collect(Collectors.joining("\n\n")),
                        hooked.stream()
                                .map(symbol -> "    {%d, (void *)entry_%s},".formatted(symbol.index(), symbol.name()))
                                .collect(Collectors.joining("\n")),
                        hooked.size());
    }

    private static String wrapper(Symbol symbol) {
        return """
                static %s {
                    return hook_%s(%s);
                }
                SL_EXPORT %s __attribute__((alias("entry_%s")));""".formatted(
                symbol.prototype("CUresult", "entry_" + symbol.name()),
                symbol.name(),
                Parameter.names(symbol.entry().parameters()),
                symbol.prototype("CUresult", symbol.name()),
                symbol.name());
    }
}
