package sluice.codegen.entries;

import java.util.Locale;
import java.util.stream.Collectors;
import sluice.codegen.api.ApiSpec;

/// `hooks.h`, `hooks_nvml.h`: the hook bodies that the library must define.
public final class HooksHeader {
    private HooksHeader() {}

    public static String emit(ApiSpec api) {
        return """
                /* Generated from spec/%1$s: the bodies of the hooked entry points. */
                #ifndef SL_HOOKS%2$s_H
                #define SL_HOOKS%2$s_H

                #include "%3$s_abi.h"

                %4$s

                #endif
                """.formatted(
                        api.file().fileName(),
                        api.file().suffix().toUpperCase(Locale.ROOT),
                        api.file().library(),
                        api.hooked().stream()
                                .map(symbol -> api.prototype(symbol, "hook_" + symbol.name()) + ";")
                                .collect(Collectors.joining("\n")));
    }
}
