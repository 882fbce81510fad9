package sluice.region.limits;

import sluice.region.place.SluiceException;

/// How much host memory a tenant may have for device memory that leaves the GPU.
///
/// @param mapped         whether Sluice maps its plain memory, so that it can leave and come back
/// @param reservoirBytes the most that released memory may take; 0 = no limit
/// @param preparedBytes  how much each process prepares ahead of a release
public record HostLimits(boolean mapped, long reservoirBytes, long preparedBytes) {
    public static final HostLimits NONE = new HostLimits(false, 0, 0);

    HostLimits withMapped(boolean given) {
        return new HostLimits(given, reservoirBytes, preparedBytes);
    }

    HostLimits withReservoir(long bytes) {
        return new HostLimits(mapped, bytes, preparedBytes);
    }

    HostLimits withPrepared(long bytes) {
        return new HostLimits(mapped, reservoirBytes, bytes);
    }

    /// Reads a size, or `none`.
    static long bytes(String text) {
        if (text.strip().equals(Limit.NONE)) {
            return 0;
        }
        try {
            return Size.parse(text);
        } catch (SluiceException e) {
            throw new SluiceException(e.getMessage() + ", or none", e);
        }
    }

    static String format(long bytes) {
        return bytes == 0 ? Limit.NONE : Size.format(bytes);
    }
}
