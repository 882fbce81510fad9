package sluice.codegen.entries;

import java.util.Locale;
import java.util.stream.Collectors;
import sluice.codegen.api.ApiSpec;

/// `real.h`, `real_nvml.h`: the table of a library's real functions, one typed pointer for each ELF symbol.
public final class RealHeader {
    private RealHeader() {}

    public static String emit(ApiSpec api) {
        return """
                /* Generated from spec/%1$s: the driver's real functions. NULL: not looked up yet, or the driver lacks it. */
                #ifndef SL_REAL%2$s_H
                #define SL_REAL%2$s_H

                #include "%3$s_abi.h"

                typedef struct {
                %5$s
                } sl_real%4$s_t;

                extern sl_real%4$s_t real%4$s __attribute__((visibility("hidden")));

                #endif
                """.formatted(
                        api.file().fileName(),
                        api.file().suffix().toUpperCase(Locale.ROOT),
                        api.file().library(),
                        api.file().suffix(),
                        api.symbols().stream()
                                .map(symbol -> "    " + api.prototype(symbol, "(*" + symbol.name() + ")") + ";")
                                .collect(Collectors.joining("\n")));
    }
}
