package sluice.cli.proof;

import java.io.PrintWriter;
import sluice.cli.process.DriverSearch;
import sluice.cli.process.RawProcess;
import sluice.cli.process.Variables;
import sluice.proof.stage.Environment;
import sluice.region.place.Installation;

/// The driver that a proof runs on: the simulated driver if the user asks for it, or if the machine has no working driver.
final class GpuChoice {
    private GpuChoice() {}

    static Environment of(Installation installation, boolean simulated, PrintWriter err) {
        if (simulated) {
            return Environment.of(installation, true);
        }
        if (!DriverSearch.found(new Variables(RawProcess.environment()))) {
            err.println("No CUDA driver is found on this machine: using the simulated GPU.");
            return Environment.of(installation, true);
        }
        Environment real = Environment.of(installation, false);
        if (real.gpu().isEmpty()) {
            err.println("No GPU works on this machine ('sluice doctor' tells more): using the simulated GPU.");
            return Environment.of(installation, true);
        }
        return real;
    }
}
