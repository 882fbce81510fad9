package sluice.codegen;

import java.util.stream.Collectors;
import java.util.stream.Stream;

/// `exports.map`: which symbols a shared library shows.
final class ExportsMap {
    private ExportsMap() {}

    static String library(ApiSpec cuda) {
        return emit(Stream.concat(cuda.symbols().stream().map(Symbol::name), Stream.of("dlsym", "dlvsym")));
    }

    static String simulatedDriver(ApiSpec cuda) {
        return emit(cuda.symbols().stream().filter(symbol -> symbol.entry().documented()).map(Symbol::name));
    }

    private static String emit(Stream<String> names) {
        return """
                # Generated from spec/cuda.api.
                {
                global:
                %s
                local:
                    *;
                };
                """.formatted(names.map(name -> "    " + name + ";").collect(Collectors.joining("\n")));
    }
}
