package sluice.proof.checks;

/// The views of a tenant on the GPU's memory. `docs/memory.md` is written from this list.
public enum View implements Subject {
    CUDA_INFO("`cuMemGetInfo`", "total: the quota; free: what is left of it, never more than is free on the GPU, 0 when more than the quota is used"),
    CUDA_TOTAL("`cuDeviceTotalMem`", "the quota, never more than the GPU has"),
    NVML_MEMORY("`nvmlDeviceGetMemoryInfo`, versions 1 and 2", "total: the quota; used: what the tenant uses; free: the rest"),
    NVML_PROCESSES("`nvmlDeviceGetComputeRunningProcesses`, versions 1 to 3", "the tenant's own processes, with what each is charged"),
    NO_LIMIT("all of them, without a quota", "what the driver says");

    private final String calls;
    private final String shows;

    View(String calls, String shows) {
        this.calls = calls;
        this.shows = shows;
    }

    public String calls() {
        return calls;
    }

    public String shows() {
        return shows;
    }
}
