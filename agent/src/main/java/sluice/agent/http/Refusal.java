package sluice.agent.http;

/// The agent answers a request with a status of 400 or above, and one line: what, which value, what to do.
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
