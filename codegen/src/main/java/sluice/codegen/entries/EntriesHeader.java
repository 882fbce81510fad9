package sluice.codegen.entries;

import java.util.stream.Collectors;
import sluice.codegen.api.ApiSpec;

/// `cuda_entries.h`: the numbers of the entry points.
public final class EntriesHeader {
    private EntriesHeader() {}

    public static String emit(ApiSpec cuda) {
        return """
                /* Generated from spec/%s: the numbers of the entry points, as in sl_entry_cuda and in the region's record call. */
                #ifndef SL_CUDA_ENTRIES_H
                #define SL_CUDA_ENTRIES_H

                #define SL_ENTRY_DIGEST 0x%xull

                enum {
                %s
                    SL_ENTRY_COUNT
                };

                #endif
                """.formatted(
                        cuda.file().fileName(),
                        CallTableSource.digest(cuda),
                        cuda.symbols().stream()
                                .map(symbol -> "    SL_ENTRY_" + symbol.name() + ",")
                                .collect(Collectors.joining("\n")));
    }
}
