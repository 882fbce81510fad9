package sluice.codegen.entries;

import java.util.stream.Collectors;
import sluice.codegen.api.ApiFile;
import sluice.codegen.api.ApiSpec;
import sluice.codegen.api.Parameter;
import sluice.codegen.api.Symbol;

/// `entries.c`, `entries_nvml.c`: the names of all entry points, the exported wrappers, and the table of both.
public final class EntriesSource {
    private static final String WATCHED = """
            #include "cuda_entries.h"
            #include "driver/driver.h"
            #include "entry/launch.h"
            #include "entry/watch.h"
            """;

    private EntriesSource() {}

    public static String emit(ApiSpec api) {
        return """
                /* Generated from spec/%1$s: the entry points.
                 *
                 * The table holds the address of this library's own wrapper, also when another library exports the same name. */
                #include "driver/entry.h"
                #include "hooks%2$s.h"
                #include "real%2$s.h"
                %7$s
                sl_real%2$s_t real%2$s;

                static const char names[][SL_ENTRY_NAME_BYTES] = {
                %3$s
                };

                %4$s

                static const sl_entry_wrapper_t wrappers[] = {
                %5$s
                };

                const sl_entry_table_t sl_entry_%6$s = {
                    .real = (void **)&real%2$s,
                    .names = names,
                    .count = sizeof names / sizeof *names,
                    .wrappers = wrappers,
                    .wrapper_count = sizeof wrappers / sizeof *wrappers,
                };

                _Static_assert(sizeof real%2$s / sizeof(void *) == sizeof names / sizeof *names, "one pointer for each entry point");
                """.formatted(
                        api.file().fileName(),
                        api.file().suffix(),
                        api.symbols().stream()
                                .map(symbol -> "    \"" + symbol.name() + "\",")
                                .collect(Collectors.joining("\n")),
                        api.wrapped().stream().map(symbol -> wrapper(api, symbol)).collect(Collectors.joining("\n\n")),
                        api.wrapped().stream()
                                .map(symbol -> "    {%d, (void *)entry_%s},".formatted(symbol.index(), symbol.name()))
                                .collect(Collectors.joining("\n")),
                        api.file().library(),
                        api.file() == ApiFile.CUDA ? WATCHED : "");
    }

    private static String wrapper(ApiSpec api, Symbol symbol) {
        if (api.file() == ApiFile.CUDA) {
            return WatchedSource.wrapper(api, symbol);
        }
        return """
                static %s {
                    return hook_%s(%s);
                }
                SL_EXPORT %s __attribute__((alias("entry_%s")));""".formatted(
                api.prototype(symbol, "entry_" + symbol.name()),
                symbol.name(),
                Parameter.names(symbol.entry().parameters()),
                api.prototype(symbol, symbol.name()),
                symbol.name());
    }
}
