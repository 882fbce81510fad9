package sluice.codegen.entries;

import java.util.stream.Collectors;
import java.util.stream.Stream;
import sluice.codegen.api.ApiSpec;
import sluice.codegen.api.Symbol;

/// `exports.map`: which symbols a shared library shows.
public final class ExportsMap {
    private ExportsMap() {}

    /// Sluice may be installed in the place of libcuda, so it exports all of its symbols; of NVML only those that it changes. NVTX looks
    /// for the last symbol.
    public static String library(ApiSpec cuda, ApiSpec nvml) {
        var symbols = Stream.concat(cuda.symbols().stream(), nvml.hooked().stream());
        return emit("spec/cuda.api and spec/nvml.api", Stream.concat(symbols.map(Symbol::name), Stream.of("dlsym", "dlvsym", "InitializeInjectionNvtx2")));
    }

    public static String simulatedDriver(ApiSpec cuda) {
        return emit("spec/cuda.api", cuda.symbols().stream().filter(symbol -> symbol.entry().documented()).map(Symbol::name));
    }

    private static String emit(String source, Stream<String> names) {
        return """
                # Generated from %s.
                {
                global:
                %s
                local:
                    *;
                };
                """.formatted(source, names.map(name -> "    " + name + ";").collect(Collectors.joining("\n")));
    }
}
