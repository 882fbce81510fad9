package sluice.codegen.api;

/// The kind of a call, for the code that watches it; in the order of `SL_DETAIL_…` in `watch.h`.
public enum WatchedKind {
    NONE,
    KERNEL,
    COPY,
    SET,
    MEMORY,
    GRAPH,
    SYNC;

    public static WatchedKind of(EntryPoint entry) {
        var name = entry.apiName();
        return switch (entry.role()) {
            case LAUNCH -> name.startsWith("cuGraph") ? GRAPH : KERNEL;
            case COPY -> name.startsWith("cuMemset") ? SET : COPY;
            case SYNC -> SYNC;
            case CHARGE, REFUND -> name.matches("cu(Mem|Array|Mipmapped).*") ? MEMORY : NONE;
            default -> takesHostMemory(entry) ? MEMORY : NONE;
        };
    }

    private static boolean takesHostMemory(EntryPoint entry) {
        return entry.symbol().matches("cuMem(AllocHost|FreeHost|HostAlloc|HostRegister|HostUnregister)(_v2)?");
    }

    boolean submits() {
        return this == KERNEL || this == COPY || this == SET || this == GRAPH;
    }
}
