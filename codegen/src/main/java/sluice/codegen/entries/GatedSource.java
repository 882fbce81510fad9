package sluice.codegen.entries;

import java.util.stream.Collectors;
import sluice.codegen.api.ApiSpec;
import sluice.codegen.api.CallDetail;
import sluice.codegen.api.Hook;
import sluice.codegen.api.Parameter;
import sluice.codegen.api.Symbol;

/// `gated.c`: the hook bodies that only pass the gate, or only count the call.
public final class GatedSource {
    private GatedSource() {}

    public static String emit(ApiSpec cuda) {
        return """
                /* Generated from spec/%s: the hooks that do nothing but pass the gate, and those that are only counted. */
                #include "driver/driver.h"
                #include "compute/gate.h"
                #include "hooks.h"
                #include "real.h"
                #include "entry/watch.h"

                %s""".formatted(
                        cuda.file().fileName(),
                        cuda.hooked().stream()
                                .filter(symbol -> symbol.entry().hook().generated())
                                .map(symbol -> body(cuda, symbol))
                                .collect(Collectors.joining("\n")));
    }

    private static String body(ApiSpec cuda, Symbol symbol) {
        var call = "real." + symbol.name() + "(" + Parameter.names(symbol.entry().parameters()) + ")";
        return """
                %s {
                    if (SL_UNLIKELY(!SL_DRIVER_HAS(%s)))
                        return CUDA_ERROR_NOT_FOUND;
                %s}
                """.formatted(
                cuda.prototype(symbol, "hook_" + symbol.name()),
                symbol.name(),
                symbol.entry().hook() == Hook.GATED ? gated(cuda, symbol, call) : counted(call));
    }

    private static String gated(ApiSpec cuda, Symbol symbol, String call) {
        return """
                if (!sl_gate_is_on())
                    return %1$s;
                sl_gate_pass_t pass;
                if (!sl_gate_enter_copy(&pass, %2$s, %3$s, %4$d, %5$s))
                    return CUDA_ERROR_NOT_PERMITTED;
                CUresult status = %1$s;
                sl_gate_leave(&pass, status);
                return status;
                """.formatted(
                call,
                CallDetail.parameter(symbol, it -> it.type().equals("CUstream")).map(Parameter::name).orElse("NULL"),
                symbol.perThread() ? "SL_GATE_PER_THREAD" : "SL_GATE_LEGACY",
                symbol.index(),
                CallDetail.bytes(cuda, symbol).orElse("0")).indent(4);
    }

    private static String counted(String call) {
        return """
                if (sl_gate_is_on())
                    sl_gate_pass_uncounted();
                return %s;
                """.formatted(call).indent(4);
    }
}
