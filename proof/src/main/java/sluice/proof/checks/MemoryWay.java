package sluice.proof.checks;

/// The ways in which CUDA allocates memory, and how Sluice counts each. `docs/memory.md` is written from this list.
public enum MemoryWay implements Subject {
    LINEAR("`cuMemAlloc`",
            "the driver is asked; small ones share blocks of 2 MiB, and a block is charged with its first occupant",
            "`cuMemFree`, `cuMemFreeAsync`; a block with its last occupant"),
    PITCHED("`cuMemAllocPitch`", "the driver is asked, with the pitch that it really chose", "`cuMemFree`"),
    MANAGED("`cuMemAllocManaged`", "it is allocated, in full, although the driver takes it only when it is touched", "`cuMemFree`"),
    DEFAULT_POOL("`cuMemAllocAsync`, from the default pool", "the pool grows, by as much as it grows",
            "the pool shrinks: when a stream is synchronised, when it is trimmed"),
    OWN_POOL("`cuMemAllocFromPoolAsync`, from a pool of `cuMemPoolCreate`", "the pool grows, by as much as it grows",
            "the pool shrinks or is destroyed"),
    GRAPH("memory nodes of graphs, captured allocations", "the driver reserves it: at instantiation and launch",
            "`cuDeviceGraphMemTrim`, or when the driver drops it"),
    PHYSICAL("`cuMemCreate`", "it is created, if it is on a GPU; host memory is not charged",
            "the last handle and the last mapping are gone"),
    SPARSE_ARRAY("sparse arrays", "not themselves; what `cuMemMapArrayAsync` maps into them is charged as `cuMemCreate`",
            "the last handle and the last mapping are gone, also with the array"),
    ARRAY("`cuArrayCreate`, `cuArray3DCreate`", "it is created, with what the driver's layout takes", "`cuArrayDestroy`"),
    MIPMAPPED_ARRAY("`cuMipmappedArrayCreate`", "it is created, with all levels", "`cuMipmappedArrayDestroy`"),
    CONTEXT("primary contexts", "the first use, however often it is retained", "the last release, or a reset"),
    CREATED_CONTEXT("`cuCtxCreate`", "it is created", "`cuCtxDestroy`"),
    GREEN_CONTEXT("green contexts", "it is created: the primary context that it needs, and what it takes itself as overhead",
            "`cuGreenCtxDestroy`"),
    MODULE("modules and libraries: code, global variables", "it is loaded", "it is unloaded"),
    STACK("`cuCtxSetLimit`: stack, malloc heap", "the limit is set", "the limit is lowered or the context ends"),
    IPC("`cuIpcOpenMemHandle`", "never again: it is charged to the process that allocated it", "that process frees it"),
    IMPORT("`cuMemImportFromShareableHandle`", "never again: it is charged to the process that created it", "that process gives it up"),
    EXTERNAL("`cuImportExternalMemory`", "never again: it counts for whom it was made by", "-"),
    MULTICAST("multicast objects", "never: they are addresses; the memory bound to them is charged as `cuMemCreate`", "-"),
    OVERHEAD("what the driver takes and nobody asked for by name", "the ledger is compared with the driver's own figure",
            "the same, or the process ends"),
    PROCESS("everything that a process holds", "-", "the process ends, however it ends");

    private final String calls;
    private final String charged;
    private final String refunded;

    MemoryWay(String calls, String charged, String refunded) {
        this.calls = calls;
        this.charged = charged;
        this.refunded = refunded;
    }

    public String calls() {
        return calls;
    }

    public String charged() {
        return charged;
    }

    public String refunded() {
        return refunded;
    }
}
