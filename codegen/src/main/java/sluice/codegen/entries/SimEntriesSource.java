package sluice.codegen.entries;

import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import sluice.codegen.api.ApiSpec;
import sluice.codegen.api.Parameter;
import sluice.codegen.api.Symbol;

/// `sim_entries.c`: each entry point of the simulated driver as a function of its own, and the table of them.
public final class SimEntriesSource {
    private SimEntriesSource() {}

    static List<Symbol> symbols(ApiSpec cuda) {
        return cuda.symbols().stream().filter(symbol -> symbol.entry().documented()).toList();
    }

    public static String emit(ApiSpec cuda) {
        var symbols = symbols(cuda);
        return """
                /* Generated from spec/cuda.api: the entry points of the simulated driver, twins included.
                 *
                 * The table holds the simulated driver's own functions, also when a preloaded library exports the same names. */
                #include "sim_bodies.h"

                #define SIM_EXPORT __attribute__((visibility("default")))
                #define SIM_NOT_SUPPORTED 801

                %s

                const sim_entry_t sim_entries[SIM_ENTRY_COUNT] = {
                %s
                };
                """.formatted(
                        IntStream.range(0, symbols.size())
                                .mapToObj(index -> function(cuda, index, symbols.get(index)))
                                .collect(Collectors.joining("\n\n")),
                        symbols.stream().map(SimEntriesSource::row).collect(Collectors.joining("\n")));
    }

    private static String function(ApiSpec cuda, int index, Symbol symbol) {
        return """
                static %1$s {
                    CUresult sim_result;
                    if (!sim_%2$s) return SIM_NOT_SUPPORTED;
                    if (sim_enter(%3$d, %4$d, &sim_result)) return sim_result;
                    sim_result = sim_%2$s(%5$s);
                    return sim_leave(%3$d, sim_result);
                }
                SIM_EXPORT %6$s __attribute__((alias("entry_%7$s")));""".formatted(
                cuda.prototype(symbol, "entry_" + symbol.name()),
                symbol.entry().symbol(),
                index,
                symbol.perThread() ? 1 : 0,
                Parameter.names(symbol.entry().parameters()),
                cuda.prototype(symbol, symbol.name()),
                symbol.name());
    }

    private static String row(Symbol symbol) {
        return "    {\"%s\", \"%s\", %d, %d, (sim_function_t)entry_%s, (sim_function_t)sim_%s},".formatted(
                symbol.name(), symbol.entry().apiName(), symbol.since(), symbol.perThread() ? 1 : 0, symbol.name(),
                symbol.entry().symbol());
    }
}
