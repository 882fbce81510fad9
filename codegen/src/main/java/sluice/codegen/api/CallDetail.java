package sluice.codegen.api;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/// Facts about a call, as C expressions of its parameters.
///
/// A direction is one of `SL_DIRECTION_…`; the pointers of a copy with a descriptor are looked at only where it is given.
public record CallDetail(WatchedKind kind, Optional<String> bytes, Optional<String> direction, Map<String, String> others) {
    private static final String SIZED = "cuMemsetD(2D)?(8|16|32)(Async)?";
    private static final String COPIED = "cuMemcpy([HDA])to([HDA])(Async)?";

    public static CallDetail of(ApiSpec cuda, Symbol symbol) {
        var kind = WatchedKind.of(symbol.entry());
        return new CallDetail(kind, bytes(cuda, symbol), direction(cuda, symbol, kind), others(symbol, kind));
    }

    /// Whether it launches one kernel that its parameters name.
    public boolean isKernel() {
        return kind == WatchedKind.KERNEL && others.containsKey("function");
    }

    /// Whether the call has no detail but perhaps its stream.
    public boolean isQuestion() {
        return kind == WatchedKind.NONE && bytes.isEmpty() && direction.isEmpty();
    }

    /// How many bytes the call copies, sets or takes; empty: its parameters do not say.
    public static Optional<String> bytes(ApiSpec cuda, Symbol symbol) {
        var name = symbol.entry().apiName();
        if (name.matches(SIZED)) {
            var element = Integer.parseInt(name.replaceAll(SIZED, "$2")) / 8;
            return Optional.of((name.contains("D2D") ? "(uint64_t)Width * Height * " : "(uint64_t)N * ") + element);
        }
        if (has(symbol, "ByteCount")) {
            return Optional.of("ByteCount");
        }
        if (has(symbol, "bytesize")) {
            return Optional.of("bytesize");
        }
        if (has(symbol, "sizes")) {
            return Optional.of("sl_watch_sum(sizes, count)");
        }
        return switch (name) {
            case "cuMemPrefetchAsync" -> Optional.of("count");
            case "cuMemCreate" -> Optional.of("size");
            case "cuMemAllocPitch" -> Optional.of("(uint64_t)WidthInBytes * Height");
            default -> descriptor(cuda, symbol).map(CallDetail::volume);
        };
    }

    private static Optional<String> direction(ApiSpec cuda, Symbol symbol, WatchedKind kind) {
        if (kind != WatchedKind.COPY) {
            return Optional.empty();
        }
        var name = symbol.entry().apiName();
        if (name.matches(COPIED)) {
            var from = name.replaceAll(COPIED, "$1").equals("H");
            var to = name.replaceAll(COPIED, "$2").equals("H");
            return Optional.of("SL_DIRECTION_" + (from ? "TO_GPU" : to ? "FROM_GPU" : "ON_GPU"));
        }
        if (name.contains("Peer")) {
            return Optional.of("SL_DIRECTION_BETWEEN_GPUS");
        }
        return Optional.of(descriptor(cuda, symbol)
                .map(copy -> "%1$s ? sl_watch_direction(%1$s->srcMemoryType, %1$s->dstMemoryType) : SL_DIRECTION_OTHER"
                        .formatted(copy.parameter().name()))
                .orElse("SL_DIRECTION_OTHER"));
    }

    private record Descriptor(Parameter parameter, ApiType.Struct struct) {}

    private static Optional<Descriptor> descriptor(ApiSpec cuda, Symbol symbol) {
        return parameter(symbol, it -> it.name().equals("pCopy"))
                .flatMap(copy -> cuda.struct(copy.type().replaceFirst("^const ", "").replaceFirst(" \\*$", ""))
                        .map(struct -> new Descriptor(copy, struct)));
    }

    private static String volume(Descriptor copy) {
        var name = copy.parameter().name();
        return copy.struct().fields().stream()
                .map(field -> field.declaration().name())
                .filter(field -> field.matches("WidthInBytes|Height|Depth"))
                .map(field -> name + "->" + field)
                .collect(Collectors.joining(" * ", name + " ? (uint64_t)", " : 0"));
    }

    private static Map<String, String> others(Symbol symbol, WatchedKind kind) {
        var others = new LinkedHashMap<String, String>();
        stream(symbol, kind).ifPresent(stream -> others.put("stream", stream));
        if (kind == WatchedKind.MEMORY) {
            parameter(symbol, it -> it.name().equals("dptr")).ifPresent(it -> others.put("address",
                    it.type().endsWith("*") ? "status == CUDA_SUCCESS && dptr ? *dptr : 0" : "dptr"));
        }
        if (kind == WatchedKind.GRAPH) {
            others.put("function", "(uintptr_t)hGraph");
        }
        if (kind == WatchedKind.KERNEL && has(symbol, "f")) {
            others.put("function", "(uintptr_t)f");
        }
        if (has(symbol, "gridDimX")) {
            others.put("grid", "{gridDimX, gridDimY, gridDimZ}");
            others.put("block", "{blockDimX, blockDimY, blockDimZ}");
            others.put("shared_bytes", "sharedMemBytes");
        }
        if (has(symbol, "grid_width")) {
            others.put("grid", "{(unsigned)grid_width, (unsigned)grid_height, 1}");
        }
        if (kind == WatchedKind.KERNEL && has(symbol, "config")) {
            others.put("grid", "{SL_OF(config, gridDimX), SL_OF(config, gridDimY), SL_OF(config, gridDimZ)}");
            others.put("block", "{SL_OF(config, blockDimX), SL_OF(config, blockDimY), SL_OF(config, blockDimZ)}");
            others.put("shared_bytes", "SL_OF(config, sharedMemBytes)");
        }
        return others;
    }

    /// Work without a stream of its own goes to the default stream.
    private static Optional<String> stream(Symbol symbol, WatchedKind kind) {
        var named = parameter(symbol, it -> it.type().equals("CUstream")).map(Parameter::name);
        if (kind == WatchedKind.KERNEL && has(symbol, "config")) {
            named = Optional.of("SL_OF(config, hStream)");
        }
        return named.or(() -> kind.submits() ? Optional.of("NULL") : Optional.empty())
                .map(stream -> "sl_watch_stream(%s, %s)".formatted(stream, symbol.perThread()));
    }

    private static boolean has(Symbol symbol, String name) {
        return parameter(symbol, it -> it.name().equals(name)).isPresent();
    }

    public static Optional<Parameter> parameter(Symbol symbol, Predicate<Parameter> which) {
        return symbol.entry().parameters().stream().filter(which).findFirst();
    }
}
