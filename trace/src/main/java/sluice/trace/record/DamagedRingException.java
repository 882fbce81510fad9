package sluice.trace.record;

import java.io.IOException;

/// A ring says what cannot be true. Its thread writes it, so that is no reason to give up the others.
final class DamagedRingException extends IOException {
    private static final long serialVersionUID = 1;

    DamagedRingException(String message) {
        super(message);
    }
}
