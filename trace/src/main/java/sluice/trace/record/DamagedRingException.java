package sluice.trace.record;

import java.io.IOException;

/// A ring has impossible values. Its own thread writes it, so the recorder goes on with the other rings.
final class DamagedRingException extends IOException {
    private static final long serialVersionUID = 1;

    DamagedRingException(String message) {
        super(message);
    }
}
