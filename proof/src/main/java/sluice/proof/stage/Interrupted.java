package sluice.proof.stage;

import sluice.region.place.SluiceException;

/// A proof was broken off by Ctrl-C. It takes the place of whatever failed because of that.
public final class Interrupted extends SluiceException {
    private static final long serialVersionUID = 1;

    Interrupted() {
        super("interrupted");
    }
}
