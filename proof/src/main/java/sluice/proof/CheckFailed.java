package sluice.proof;

/// A check saw something that must not be. The message is the detail of its result.
final class CheckFailed extends RuntimeException {
    private static final long serialVersionUID = 1;

    CheckFailed(String detail) {
        super(detail);
    }
}
