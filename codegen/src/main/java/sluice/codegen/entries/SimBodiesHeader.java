package sluice.codegen.entries;

import java.util.stream.Collectors;
import sluice.codegen.api.ApiSpec;
import sluice.codegen.api.EntryPoint;
import sluice.codegen.api.Parameter;

/// `sim_bodies.h`: the bodies that the simulated driver may define, and the table of its entry points.
public final class SimBodiesHeader {
    private SimBodiesHeader() {}

    public static String emit(ApiSpec cuda) {
        var entries = cuda.entries().stream().filter(EntryPoint::documented).toList();
        return """
                /* Generated from spec/cuda.api: the entry points of the simulated driver and their bodies.
                 *
                 * A body is weak: an entry point whose body nobody defines returns CUDA_ERROR_NOT_SUPPORTED (801). An entry
                 * point and its per-thread twin share a body; sim_enter is told which of them was called. */
                #ifndef SIM_BODIES_H
                #define SIM_BODIES_H

                #include <stdbool.h>

                #include "cuda_abi.h"

                #define SIM_ENTRY_COUNT %d

                typedef void (*sim_function_t)(void);

                typedef struct {
                    const char *symbol;
                    const char *name; /* as cuGetProcAddress takes it */
                    int since;
                    int per_thread;
                    sim_function_t function;
                    sim_function_t body; /* NULL: not implemented */
                } sim_entry_t;

                extern const sim_entry_t sim_entries[SIM_ENTRY_COUNT];

                /* True: the call ends here with *result. */
                bool sim_enter(unsigned index, int per_thread, CUresult *result);

                /* What the program gets for a body's result. */
                CUresult sim_leave(unsigned index, CUresult result);

                %s

                #endif
                """.formatted(
                        SimEntriesSource.symbols(cuda).size(),
                        entries.stream()
                                .map(entry -> "extern CUresult sim_%s(%s) __attribute__((weak));"
                                        .formatted(entry.symbol(), Parameter.types(entry.parameters())))
                                .collect(Collectors.joining("\n")));
    }
}
