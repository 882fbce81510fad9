package sluice.proof.facts;

/// A check cannot be made here. The message is the reason.
public final class CheckSkipped extends RuntimeException {
    private static final long serialVersionUID = 1;

    public CheckSkipped(String reason) {
        super(reason);
    }
}
