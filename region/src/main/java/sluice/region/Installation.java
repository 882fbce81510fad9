package sluice.region;

import java.nio.file.Files;
import java.nio.file.Path;

/// Where the parts of an installed Sluice lie: paths only.
public record Installation(Path home) {
    /// The installation that this process runs from; the launcher says which in the system property `sluice.home`.
    public static Installation find() {
        String home = System.getProperty("sluice.home");
        if (home == null) {
            throw new SluiceException("the system property sluice.home is not set; start Sluice by its launcher bin/sluice");
        }
        return new Installation(Path.of(home));
    }

    /// The library that goes into a program.
    public Path library() {
        return home.resolve("lib/libsluice.so");
    }

    /// The library, after a look that it is there.
    public Path presentLibrary() {
        return present(library());
    }

    /// The folder of the simulated GPU's `libcuda.so.1` and `libnvidia-ml.so.1`.
    public Path simulatedDriver() {
        return home.resolve("lib/sim");
    }

    /// The folder of the simulated GPU, after a look that it is there.
    public Path presentSimulatedDriver() {
        present(simulatedDriver().resolve("libcuda.so.1"));
        return simulatedDriver();
    }

    public Path launcher() {
        return home.resolve("bin/sluice");
    }

    private static Path present(Path file) {
        if (!Files.exists(file)) {
            throw new SluiceException(file + " is missing; build or install Sluice again");
        }
        return file;
    }
}
