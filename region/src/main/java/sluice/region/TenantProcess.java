package sluice.region;

import java.util.List;
import sluice.region.pause.ProcessPause;
import sluice.region.pause.TimeSlices;
import sluice.region.place.Identity;

/// A process that has a slot in the region.
///
/// @param alive whether the process runs, and still the same program; otherwise its slot counts for nothing
/// @param pause its progress with a pause of the tenant
/// @param slices whether it controls the time slices of its work on the GPU
public record TenantProcess(
        int slot,
        Identity identity,
        boolean alive,
        long attachedNanos,
        long calls,
        long passedCalls,
        List<Charge> charges,
        ProcessPause pause,
        TimeSlices slices,
        String commandLine) {

    /// A process that has not tried to control its time slices.
    public TenantProcess(int slot, Identity identity, boolean alive, long attachedNanos, long calls, long passedCalls, List<Charge> charges,
            ProcessPause pause, String commandLine) {
        this(slot, identity, alive, attachedNanos, calls, passedCalls, charges, pause, TimeSlices.UNTRIED, commandLine);
    }

    /// The memory of the process on one GPU.
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

    /// The memory on the GPU of an entry, by use.
    public MemoryUses uses(int gpuEntry) {
        for (Charge charge : charges) {
            if (charge.gpuEntry() == gpuEntry) {
                return charge.uses();
            }
        }
        return MemoryUses.NONE;
    }
}
