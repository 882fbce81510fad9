package sluice.proof.facts;

/// A promise did not hold. The message is the detail of the check's result.
public final class CheckFailed extends RuntimeException {
    private static final long serialVersionUID = 1;

    private final boolean ofSafety;

    public CheckFailed(String detail) {
        this(detail, false);
    }

    public CheckFailed(String detail, boolean ofSafety) {
        super(detail);
        this.ofSafety = ofSafety;
    }

    /// A bound was passed that no busy machine excuses: the check is not tried again.
    public boolean isOfSafety() {
        return ofSafety;
    }
}
