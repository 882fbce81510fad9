package sluice.cli.run;

import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import sluice.region.limits.GivenLimits;
import sluice.region.limits.Limit;
import sluice.region.limits.Limits;

/// The request of a `sluice run`.
///
/// @param given   the limits
/// @param name    the tenant's name, or null
/// @param trace   folder that its calls are recorded to, or null
/// @param verbose whether it prints how it understood the options
/// @param agent   whether the machine's agent is asked
/// @param program the program and its arguments
public record RunRequest(
        GivenLimits given,
        String name,
        boolean simulated,
        List<String> environment,
        String trace,
        boolean verbose,
        boolean agent,
        List<String> program) {
    Limits limits() {
        return given.limits();
    }

    /// Its error on this machine.
    Optional<String> mistake() {
        for (Map.Entry<Limit, String> word : given.words().entrySet()) {
            List<Integer> gpus = word.getKey().gpus(word.getValue());
            Optional<String> mistake = gpus.isEmpty() ? Optional.empty() : GpusThere.look(simulated, environment).mistake(word.getKey(), gpus);
            if (mistake.isPresent()) {
                return mistake;
            }
        }
        return given.mistake();
    }

    /// For people, in one line.
    String understood() {
        return Arrays.stream(Limit.values()).map(limit -> limit.title() + " " + limit.format(limits())).collect(Collectors.joining(", "));
    }

    /// Whether anything asks for the library to do more than to count.
    boolean isLimited() {
        return limits().isLimited() || trace != null;
    }
}
