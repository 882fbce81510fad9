package sluice.cuda;

/// A call of the driver failed where it had to succeed.
public final class CudaException extends RuntimeException {
    private static final long serialVersionUID = 1;

    private final int status;

    public CudaException(String call, int status) {
        super(call + " answered " + status + " (" + Status.name(status) + ")");
        this.status = status;
    }

    public int status() {
        return status;
    }
}
