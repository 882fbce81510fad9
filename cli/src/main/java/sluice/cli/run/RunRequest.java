package sluice.cli.run;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import sluice.region.limits.ComputeLimits;
import sluice.region.limits.MemoryLimits;
import sluice.region.limits.OnError;
import sluice.region.limits.OnOom;
import sluice.region.limits.TurnLength;

/// What `sluice run` was asked for.
///
/// @param name    the tenant's name, or null
/// @param trace   folder that its calls are recorded to, or null
/// @param verbose whether it says what was understood
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
        boolean verbose,
        boolean agent,
        Map<String, String> asked,
        List<String> program) {
    /// What is wrong with it on this machine.
    Optional<String> mistake() {
        return memory.named().isEmpty() && compute.caps().named().isEmpty()
                ? Optional.empty() : GpusThere.look(simulated, environment).mistake(memory, compute.caps());
    }

    /// For people, in one line.
    String understood() {
        String turns = compute.turns() ? "weight " + compute.weight() + ", priority " + compute.priority().word()
                + (compute.exclusive() ? ", exclusive" : "") + ", " + TurnLength.format(compute.turnMicros()) + " each" : "none";
        return "memory " + memory + ", over the quota " + onOom + "; compute " + compute.caps() + "; turns: " + turns + "; on error " + onError.word();
    }

    /// Whether anything asks for the library to do more than to count.
    boolean isLimited() {
        return !memory.isEmpty() || compute.takesPart() || trace != null;
    }
}
