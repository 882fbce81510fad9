package sluice.proof;

/// A check saw something that must not be. The message is the detail of its result.
final class CheckFailed extends RuntimeException {
    private static final long serialVersionUID = 1;

    private final boolean ofSafety;

    CheckFailed(String detail) {
        this(detail, false);
    }

    CheckFailed(String detail, boolean ofSafety) {
        super(detail);
        this.ofSafety = ofSafety;
    }

    /// A bound was passed that no busy machine excuses: the check is not tried again.
    boolean isOfSafety() {
        return ofSafety;
    }
}
