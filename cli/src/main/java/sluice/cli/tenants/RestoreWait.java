package sluice.cli.tenants;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import sluice.cli.output.Progress;
import sluice.region.Tenant;

/// Waits until a vacated tenant has room on its GPUs, before it is asked to resume. Its library is older than the word of a look: it does not wait itself.
final class RestoreWait {
    private static final long APART_NANOS = 200_000_000L;

    private final SeenTenants tenants;

    RestoreWait(SeenTenants tenants) {
        this.tenants = tenants;
    }

    /// @param timeout null: none
    /// @return why it did not wait any longer; empty: there is room
    Optional<String> lacking(Tenant tenant, Duration timeout, BooleanSupplier interrupted, Progress progress) {
        long began = System.nanoTime();
        Optional<String> lacking = tenants.lacking(tenant);
        while (lacking.isPresent() && !interrupted.getAsBoolean() && (timeout == null || System.nanoTime() - began < timeout.toNanos())) {
            progress.step(lacking.get());
            LockSupport.parkNanos(APART_NANOS);
            lacking = tenants.lacking(tenant);
        }
        return lacking;
    }
}
