package sluice.codegen;

import java.util.stream.Collectors;

/// `hooks.h`: the hook bodies that the library must define.
final class HooksHeader {
    private HooksHeader() {}

    static String emit(ApiSpec cuda) {
        return """
                /* Generated from spec/cuda.api: the bodies of the hooked entry points. */
                #ifndef SL_HOOKS_H
                #define SL_HOOKS_H

                #include "cuda_abi.h"

                %s

                #endif
                """.formatted(cuda.symbols().stream()
                        .filter(symbol -> symbol.entry().hooked())
                        .map(symbol -> symbol.prototype("CUresult", "hook_" + symbol.name()) + ";")
                        .collect(Collectors.joining("\n")));
    }
}
