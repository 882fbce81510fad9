package sluice.agent.http;

/// A request that is answered with a status of 400 and above, and one line that says what, which value, what to do.
public final class Refusal extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final int status;

    public Refusal(int status, String message) {
        super(message, null, false, false);
        this.status = status;
    }

    public int status() {
        return status;
    }
}
