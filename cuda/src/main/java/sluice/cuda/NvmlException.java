package sluice.cuda;

/// NVML refused an answer that is needed.
public final class NvmlException extends IllegalStateException {
    private static final long serialVersionUID = 1;

    private final int status;

    NvmlException(String call, int status) {
        super(call + " answered NVML error " + status);
        this.status = status;
    }

    public int status() {
        return status;
    }
}
