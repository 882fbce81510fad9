package sluice.codegen;

import java.util.Optional;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/// `gated.c`: the hook bodies that only pass the gate, or only count the call.
final class GatedSource {
    private static final String SIZED = "cuMemsetD(2D)?(8|16|32)(Async)?";

    private GatedSource() {}

    static String emit(ApiSpec cuda) {
        return """
                /* Generated from spec/%s: the hooks that do nothing but pass the gate, and those that are only counted. */
                #include "driver.h"
                #include "gate.h"
                #include "hooks.h"
                #include "real.h"

                static inline uint64_t sum(const size_t *sizes, size_t count) {
                    uint64_t bytes = 0;
                    for (size_t i = 0; sizes && i < count; i++)
                        bytes += sizes[i];
                    return bytes;
                }

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
                sl_gate_enter_copy(&pass, %2$s, %3$s, %4$d, %5$s);
                CUresult status = %1$s;
                sl_gate_leave(&pass);
                return status;
                """.formatted(
                call,
                parameter(symbol, it -> it.type().equals("CUstream")).map(Parameter::name).orElse("NULL"),
                symbol.perThread() ? "SL_GATE_PER_THREAD" : "SL_GATE_LEGACY",
                symbol.index(),
                bytes(cuda, symbol)).indent(4);
    }

    private static String counted(String call) {
        return """
                if (sl_gate_is_on())
                    sl_gate_pass_uncounted();
                return %s;
                """.formatted(call).indent(4);
    }

    /// How much the call moves, as an expression of its parameters; 0 where they do not tell.
    private static String bytes(ApiSpec cuda, Symbol symbol) {
        var name = symbol.entry().apiName();
        if (name.matches(SIZED)) {
            var element = Integer.parseInt(name.replaceAll(SIZED, "$2")) / 8;
            return (name.contains("D2D") ? "(uint64_t)Width * Height * " : "(uint64_t)N * ") + element;
        }
        if (parameter(symbol, it -> it.name().equals("ByteCount")).isPresent()) {
            return "ByteCount";
        }
        if (parameter(symbol, it -> it.name().equals("sizes")).isPresent()) {
            return "sum(sizes, count)";
        }
        if (name.equals("cuMemPrefetchAsync")) {
            return "count";
        }
        return parameter(symbol, it -> it.name().equals("pCopy"))
                .flatMap(copy -> volume(cuda, copy))
                .orElse("0");
    }

    private static Optional<String> volume(ApiSpec cuda, Parameter copy) {
        return cuda.struct(copy.type().replaceFirst("^const ", "").replaceFirst(" \\*$", ""))
                .map(struct -> struct.fields().stream()
                        .map(field -> field.declaration().name())
                        .filter(field -> field.matches("WidthInBytes|Height|Depth"))
                        .map(field -> copy.name() + "->" + field)
                        .collect(Collectors.joining(" * ", copy.name() + " ? (uint64_t)", " : 0")));
    }

    private static Optional<Parameter> parameter(Symbol symbol, Predicate<Parameter> which) {
        return symbol.entry().parameters().stream().filter(which).findFirst();
    }
}
