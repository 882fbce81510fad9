package sluice.codegen.entries;

import java.util.ArrayList;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import sluice.codegen.api.ApiSpec;
import sluice.codegen.api.CallDetail;
import sluice.codegen.api.EntryPoint;
import sluice.codegen.api.Parameter;
import sluice.codegen.api.Symbol;
import sluice.codegen.api.WatchedKind;

/// The exported wrappers of libcuda's entry points. A wrapper forwards each call, to its hook where it has one, and watches it.
///
/// While no sink wants the detail, little has to be kept over the call: the time at which it began, or for most quick calls the place where
/// it is counted. The long path is a function of its own. It also serves calls that the driver lacks or has not loaded.
final class WatchedSource {
    private static final String QUICK = "cuCtx(Get.*|SetCurrent|PushCurrent|PopCurrent)|cuDevice(Get.*|PrimaryCtxGetState)|cuPointerGet.*"
            + "|cuStream(Get.*|IsCapturing|Query|WaitEvent)|cuEvent(Query|Record.*)|cuFuncGetAttribute";

    private WatchedSource() {}

    static String wrapper(ApiSpec cuda, Symbol symbol) {
        var name = symbol.name();
        var arguments = Parameter.names(symbol.entry().parameters());
        var detail = CallDetail.of(cuda, symbol);
        var quick = isQuick(symbol.entry());
        if (detail.isKernel()) {
            return kernel(cuda, symbol, detail);
        }
        return """
                %1$s
                __attribute__((noinline)) static %2$s {
                    uint64_t begin = sl_watch_begin_told();
                    CUresult status = %3$s;
                    %5$s;
                    return status;
                }
                static %6$s {
                    sl_hold_enter();
                    %10$s
                        return sl_hold_left(told_%4$s(%7$s));
                    %12$sCUresult status = %11$s;
                    %8$s;
                    return sl_hold_left(status);
                }
                SL_EXPORT %9$s __attribute__((alias("entry_%4$s")));""".formatted(
                symbol.entry().hooked() ? "" : forward(cuda, symbol, arguments),
                cuda.prototype(symbol, "told_" + name),
                (symbol.entry().hooked() ? "hook_" : "forward_") + name + "(" + arguments + ")",
                name,
                tell(detail, name, quick),
                cuda.prototype(symbol, "entry_" + name),
                arguments,
                quick ? "sl_watch_count(call, status)" : end(detail, name),
                cuda.prototype(symbol, name),
                goesTheLongWay(symbol, quick),
                (symbol.entry().hooked() ? "hook_" : "real.") + name + "(" + arguments + ")",
                quick ? "" : "uint64_t begin = sl_watch_begin();\n    ").stripLeading();
    }

    /// A launch has many parameters, and the wrapper copies them as rarely as possible: so all launches take one path.
    private static String kernel(ApiSpec cuda, Symbol symbol, CallDetail detail) {
        return """
                SL_HOT static %1$s {
                    sl_hold_enter();
                    uint64_t begin = sl_launch_begin(SL_ENTRY_%2$s);
                    CUresult status = hook_%2$s(%3$s);
                    if (SL_UNLIKELY(begin != 0))
                        sl_launch_tell(begin, SL_ENTRY_%2$s, status, %4$s);
                    else
                        sl_watch_count(&sl_thread.watch.calls[SL_ENTRY_%2$s], status);
                    return sl_hold_left(status);
                }
                SL_EXPORT SL_HOT %5$s __attribute__((alias("entry_%2$s")));""".formatted(
                cuda.prototype(symbol, "entry_" + symbol.name()),
                symbol.name(),
                Parameter.names(symbol.entry().parameters()),
                shape(detail),
                cuda.prototype(symbol, symbol.name()));
    }

    private static String shape(CallDetail detail) {
        return Stream.of("stream", "function", "grid", "block", "shared_bytes")
                .map(field -> detail.others().getOrDefault(field, field.matches("grid|block") ? "{0, 0, 0}" : "0"))
                .map(value -> value.replaceAll("[{}]", ""))
                .collect(Collectors.joining(", "));
    }

    private static String forward(ApiSpec cuda, Symbol symbol, String arguments) {
        return """
                static inline %1$s {
                    return SL_UNLIKELY(!SL_DRIVER_HAS(%2$s)) ? CUDA_ERROR_NOT_FOUND : real.%2$s(%3$s);
                }""".formatted(cuda.prototype(symbol, "forward_" + symbol.name()), symbol.name(), arguments);
    }

    private static String goesTheLongWay(Symbol symbol, boolean quick) {
        var lacking = symbol.entry().hooked() ? "" : " || SL_UNLIKELY(!real." + symbol.name() + ")";
        if (quick) {
            return "sl_region_call_t *call = sl_watch_untimed(SL_ENTRY_" + symbol.name() + ");\n    if (SL_UNLIKELY(!call)" + lacking + ")";
        }
        return "if (sl_watch_is_told()" + lacking + ")";
    }

    /// Launches, and queries that frameworks make thousands of times in a second: the library times only some of them.
    private static boolean isQuick(EntryPoint entry) {
        return WatchedKind.of(entry) == WatchedKind.KERNEL || entry.apiName().matches(QUICK);
    }

    private static String end(CallDetail detail, String name) {
        var head = "(begin, SL_ENTRY_" + name + ", status";
        if (detail.direction().isPresent()) {
            return "sl_watch_end_copy" + head + ", " + detail.bytes().orElse("0") + ", " + detail.direction().get() + ")";
        }
        return detail.bytes().map(bytes -> "sl_watch_end_bytes" + head + ", " + bytes + ")").orElse("sl_watch_end" + head + ")");
    }

    private static String tell(CallDetail detail, String name, boolean quick) {
        if (quick && detail.isQuestion()) {
            return "sl_watch_tell_question(begin, SL_ENTRY_" + name + ", status, " + detail.others().getOrDefault("stream", "0") + ")";
        }
        return "sl_watch_tell(begin, SL_ENTRY_" + name + ", status, &(sl_detail_t){" + fields(detail, quick) + "})";
    }

    private static String fields(CallDetail detail, boolean quick) {
        var fields = new ArrayList<String>();
        fields.add(".kind = SL_DETAIL_" + detail.kind());
        detail.bytes().ifPresent(bytes -> fields.add(".bytes = " + bytes));
        detail.direction().ifPresent(direction -> fields.add(".direction = " + direction));
        if (quick) {
            fields.add(".quick = true");
        }
        detail.others().forEach((field, value) -> fields.add("." + field + " = " + value));
        return fields.stream().collect(Collectors.joining(", "));
    }
}
