package sluice.kubernetes.cluster;

import sluice.region.place.SluiceException;

/// The API server refused a request, or did not answer.
public final class ClusterException extends SluiceException {
    private static final long serialVersionUID = 1L;
    private static final int NOT_FOUND = 404;
    private static final int CONFLICT = 409;

    private final int status;

    /// @param status of HTTP; 0 if there was no answer
    ClusterException(int status, String message, Throwable cause) {
        super(message, cause);
        this.status = status;
    }

    public boolean isNotFound() {
        return status == NOT_FOUND;
    }

    /// Another writer was there first.
    public boolean isConflict() {
        return status == CONFLICT;
    }
}
