package sluice.region;

/// A failure that its user can understand: one line that says what, which value, and what to do next.
public class SluiceException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    public SluiceException(String message) {
        super(message);
    }

    public SluiceException(String message, Throwable cause) {
        super(message, cause);
    }
}
