package sluice.cli.run;

import java.util.List;
import java.util.Map;
import sluice.region.ComputeLimits;
import sluice.region.MemoryLimits;
import sluice.region.OnError;
import sluice.region.OnOom;

/// What `sluice run` was asked for.
///
/// @param name    the tenant's name, or null
/// @param trace   folder that its calls are recorded to, or null
/// @param agent   whether the machine's agent is asked
/// @param asked   limits that were given, by the names of options, as they were written
/// @param program the program and its arguments
public record RunRequest(
        MemoryLimits memory,
        ComputeLimits compute,
        String name,
        boolean simulated,
        List<String> environment,
        OnError onError,
        OnOom onOom,
        String trace,
        boolean agent,
        Map<String, String> asked,
        List<String> program) {
    /// Whether anything asks for the library to do more than to count.
    boolean isLimited() {
        return !memory.isEmpty() || compute.takesPart() || trace != null;
    }
}
