package sluice.region;

import sluice.region.place.SluiceException;

/// The name that was asked for belongs to a tenant that still runs.
public final class TenantRunningException extends SluiceException {
    private static final long serialVersionUID = 1L;

    TenantRunningException(String tenant) {
        super("tenant '" + tenant + "' is running already; choose another --name or wait until it ends");
    }
}
