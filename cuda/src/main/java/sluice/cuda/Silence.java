package sluice.cuda;

/// Why a GPU that the driver lists does not answer it, and what helps.
public record Silence(String why, String remedy) {
    private static final int LOST = 15;
    private static final int RESET_REQUIRED = 16;
    private static final int UNKNOWN = 999;

    /// Whether an answer to any question tells that the GPU is silent, not that it cannot answer this one.
    static boolean isCertain(int status) {
        return status == LOST || status == RESET_REQUIRED || status == UNKNOWN;
    }

    /// @param status what NVML answers for the GPU
    public static Silence of(int status) {
        return switch (status) {
            case LOST -> new Silence("lost: it does not answer the driver", "restart the machine");
            case RESET_REQUIRED -> new Silence("it has to be reset", "stop what uses it and run nvidia-smi --gpu-reset");
            default -> new Silence("it does not answer the driver: NVML error " + status, "look for its Xid in the kernel's log, then restart the machine");
        };
    }

    @Override
    public String toString() {
        return why + "; " + remedy;
    }
}
