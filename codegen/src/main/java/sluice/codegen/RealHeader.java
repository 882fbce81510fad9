package sluice.codegen;

import java.util.stream.Collectors;

/// `real.h`: the table of the real driver's functions, one typed pointer for each ELF symbol.
final class RealHeader {
    private RealHeader() {}

    static String emit(ApiSpec cuda) {
        var symbols = cuda.symbols();
        return """
                /* Generated from spec/cuda.api: the real driver's functions. NULL: not looked up yet, or the driver lacks it. */
                #ifndef SL_REAL_H
                #define SL_REAL_H

                #include "cuda_abi.h"

                #define SL_REAL_COUNT %d

                typedef struct {
                %s
                } sl_real_t;

                extern sl_real_t real __attribute__((visibility("hidden")));

                #endif
                """.formatted(symbols.size(), symbols.stream()
                        .map(symbol -> "    " + symbol.prototype("CUresult", "(*" + symbol.name() + ")") + ";")
                        .collect(Collectors.joining("\n")));
    }
}
