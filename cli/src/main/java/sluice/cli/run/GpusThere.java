package sluice.cli.run;

import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import sluice.region.limits.Limit;

/// The GPUs that a program will find, as far as they can be known without a driver: NVML takes too long for the start of every job.
///
/// @param count empty: not known; then the library reports at its first use of a GPU if a limit names a missing GPU
record GpusThere(OptionalInt count, boolean simulated) {
    private static final Path FOLDER = Path.of("/proc/driver/nvidia/gpus");
    private static final String SIMULATED = "SLUICE_SIM_GPUS";

    /// @param settings `KEY=VALUE` that the program will have
    static GpusThere look(boolean simulated, List<String> settings) {
        return new GpusThere(simulated ? simulatedGpus(settings) : listed(FOLDER), simulated);
    }

    /// A folder for each GPU, with the name of its place on the bus.
    static OptionalInt listed(Path folder) {
        String[] names = folder.toFile().list((in, name) -> name.indexOf(':') >= 0);
        return names == null || names.length == 0 ? OptionalInt.empty() : OptionalInt.of(names.length);
    }

    private static OptionalInt simulatedGpus(List<String> settings) {
        String value = System.getenv(SIMULATED);
        for (String setting : settings) {
            value = setting.startsWith(SIMULATED + "=") ? setting.substring(SIMULATED.length() + 1) : value;
        }
        try {
            return OptionalInt.of(value == null ? 1 : Integer.parseInt(value));
        } catch (NumberFormatException e) {
            return OptionalInt.empty();
        }
    }

    /// The error of a limit for missing GPUs: it would limit nothing.
    ///
    /// @param named the GPUs that it names, in order
    Optional<String> mistake(Limit limit, List<Integer> named) {
        if (count.isEmpty() || named.getLast() < count.getAsInt()) {
            return Optional.empty();
        }
        String those = count.getAsInt() == 1 ? "GPU 0" : "GPUs 0 to " + (count.getAsInt() - 1);
        return Optional.of(limit.option() + ": there is no GPU " + named.getLast() + "; this " + (simulated ? "simulated " : "") + "machine has " + those
                + (simulated ? " (" + SIMULATED + ")" : ""));
    }
}
