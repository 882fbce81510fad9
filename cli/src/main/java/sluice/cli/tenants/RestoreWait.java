package sluice.cli.tenants;

import java.time.Duration;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import sluice.api.pause.RestoreRoom;
import sluice.cli.output.Progress;
import sluice.cuda.Nvml;
import sluice.region.Tenant;

/// Waits until a vacated tenant has room on its GPUs, before it is asked to resume.
final class RestoreWait {
    private static final long APART_NANOS = 200_000_000L;

    private final Optional<Nvml> nvml = Nvml.open();

    /// @param timeout null: none
    /// @return why it did not wait any longer; empty: there is room
    Optional<String> lacking(Tenant tenant, Duration timeout, BooleanSupplier interrupted, Progress progress) {
        long began = System.nanoTime();
        Optional<String> lacking = RestoreRoom.lacking(tenant, this::freeBytes);
        while (lacking.isPresent() && !interrupted.getAsBoolean() && (timeout == null || System.nanoTime() - began < timeout.toNanos())) {
            progress.step(lacking.get());
            LockSupport.parkNanos(APART_NANOS);
            lacking = RestoreRoom.lacking(tenant, this::freeBytes);
        }
        return lacking;
    }

    private OptionalLong freeBytes(int gpu) {
        return nvml.map(library -> OptionalLong.of(library.memory(gpu).freeBytes())).orElse(OptionalLong.empty());
    }
}
