package sluice.proof.facts;

/// A check saw something that must not be. The message is the detail of its result.
public final class CheckFailed extends RuntimeException {
    private static final long serialVersionUID = 1;

    public CheckFailed(String detail) {
        super(detail);
    }
}
