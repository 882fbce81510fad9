package sluice.proof;

/// A check cannot be made here. The message is the reason.
final class CheckSkipped extends RuntimeException {
    private static final long serialVersionUID = 1;

    CheckSkipped(String reason) {
        super(reason);
    }
}
