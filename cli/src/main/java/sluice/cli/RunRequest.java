package sluice.cli;

import java.util.List;
import sluice.region.ComputeLimits;
import sluice.region.MemoryLimits;
import sluice.region.OnError;
import sluice.region.OnOom;

/// What `sluice run` was asked for.
///
/// @param name    the tenant's name, or null
/// @param trace   folder that its calls are recorded to, or null
/// @param program the program and its arguments
record RunRequest(
        MemoryLimits memory,
        ComputeLimits compute,
        String name,
        boolean simulated,
        List<String> environment,
        OnError onError,
        OnOom onOom,
        String trace,
        List<String> program) {
    /// Whether anything asks for the library to do more than to count.
    boolean isLimited() {
        return !memory.isEmpty() || compute.takesPart() || trace != null;
    }
}
