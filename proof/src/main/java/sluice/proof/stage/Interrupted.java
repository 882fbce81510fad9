package sluice.proof.stage;

import sluice.region.place.SluiceException;

/// Ctrl-C interrupted a proof. It replaces any failure that this caused.
public final class Interrupted extends SluiceException {
    private static final long serialVersionUID = 1;

    Interrupted() {
        super("interrupted");
    }
}
