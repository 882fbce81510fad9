package sluice.codegen.entries;

import java.nio.charset.StandardCharsets;
import java.util.stream.Collectors;
import sluice.codegen.api.ApiSpec;
import sluice.codegen.api.Role;
import sluice.codegen.api.Symbol;
import sluice.codegen.api.WatchedKind;

/// `CallTable.java`: the names and the kinds of the entry points whose calls the region counts.
public final class CallTableSource {
    private static final long FNV_BASIS = 0xcbf29ce484222325L;
    private static final long FNV_PRIME = 0x100000001b3L;

    private CallTableSource() {}

    public static String emit(ApiSpec cuda) {
        return """
                package sluice.region.layout;

                import java.util.List;

                /// Generated from spec/%s: the CUDA entry points by the number that they have in the region's record `call`.
                public final class CallTable {
                    /// Of the names in their order; another one in a region means that its numbers stand for other names.
                    public static final long DIGEST = 0x%xL;

                    public static final List<String> NAMES = \"""
                %s            \""".lines().toList();

                    /// What each does, a letter each: the words of `CallKind`.
                    public static final String KINDS = "%s";

                    private CallTable() {}
                }
                """.formatted(
                        cuda.file().fileName(),
                        digest(cuda),
                        cuda.symbols().stream().map(Symbol::name).collect(Collectors.joining("\n")).indent(12),
                        cuda.symbols().stream().map(CallTableSource::letter).collect(Collectors.joining()));
    }

    private static String letter(Symbol symbol) {
        return switch (WatchedKind.of(symbol.entry())) {
            case NONE -> "-";
            case KERNEL -> "K";
            case COPY -> "C";
            case SET -> "S";
            case MEMORY -> symbol.entry().role() == Role.CHARGE ? "A" : symbol.entry().role() == Role.REFUND ? "F" : "H";
            case GRAPH -> "G";
            case SYNC -> "W";
        };
    }

    /// FNV-1a of the names, each ended by a newline.
    static long digest(ApiSpec cuda) {
        long digest = FNV_BASIS;
        for (var symbol : cuda.symbols()) {
            for (byte letter : (symbol.name() + "\n").getBytes(StandardCharsets.UTF_8)) {
                digest = (digest ^ letter) * FNV_PRIME;
            }
        }
        return digest;
    }
}
