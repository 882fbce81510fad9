package sluice.region;

import java.util.List;
import sluice.region.pause.ProcessPause;
import sluice.region.place.Identity;

/// A process that has a slot in the region.
///
/// @param alive whether the process runs, and still the same program; otherwise its slot counts for nothing
/// @param pause how far it is with a pause of the tenant
public record TenantProcess(
        int slot,
        Identity identity,
        boolean alive,
        long attachedNanos,
        long calls,
        long passedCalls,
        List<Charge> charges,
        ProcessPause pause,
        String commandLine) {

    /// What the process holds on one GPU.
    public record Charge(
            int gpuEntry,
            long chargedBytes,
            long inFlightBytes,
            MemoryUses uses,
            long allocations,
            long allocationsTotal) {}

    /// Bytes charged on the GPU of an entry.
    public long chargedBytes(int gpuEntry) {
        for (Charge charge : charges) {
            if (charge.gpuEntry() == gpuEntry) {
                return charge.chargedBytes();
            }
        }
        return 0;
    }

    /// What the memory on the GPU of an entry is used for.
    public MemoryUses uses(int gpuEntry) {
        for (Charge charge : charges) {
            if (charge.gpuEntry() == gpuEntry) {
                return charge.uses();
            }
        }
        return MemoryUses.NONE;
    }
}
