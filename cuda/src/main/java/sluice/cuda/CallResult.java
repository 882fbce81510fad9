package sluice.cuda;

/// What a call that gives one value answered. The value means something only when the status is success.
public record CallResult(int status, long value) {

    public boolean ok() {
        return status == Status.SUCCESS;
    }

    /// The value, or an exception that says which call failed and how.
    public long orThrow(String call) {
        Status.check(call, status);
        return value;
    }
}
