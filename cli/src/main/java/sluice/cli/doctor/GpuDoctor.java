package sluice.cli.doctor;

import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import sluice.cli.process.DriverSearch;
import sluice.cli.process.SliceDriver;
import sluice.cli.process.Variables;
import sluice.cuda.Nvml;
import sluice.proof.stage.Environment;
import sluice.proof.stage.Environment.GpuDescription;
import sluice.region.limits.Size;
import sluice.region.place.Installation;
import sluice.region.place.SluiceException;

/// Checks the drivers: the machine's own and the simulated one.
final class GpuDoctor {
    private static final int OLDEST_DRIVER = 11030;

    private final Installation installation;
    private final Variables environment;
    private final List<Finding> findings = new ArrayList<>();

    GpuDoctor(Installation installation, Variables environment) {
        this.installation = installation;
        this.environment = environment;
    }

    List<Finding> examine() {
        if (DriverSearch.found(environment)) {
            management();
            driver();
        } else {
            findings.add(Finding.warn("driver", "no CUDA driver (libcuda.so.1) was found",
                    "install the NVIDIA driver, or use the simulated GPU with --sim"));
        }
        simulated();
        return findings;
    }

    private void management() {
        Optional<Nvml> nvml = Nvml.open();
        if (nvml.isEmpty()) {
            findings.add(Finding.warn("NVML", Nvml.LIBRARY + " is missing or finds no driver", "check that nvidia-smi works"));
            return;
        }
        findings.add(Finding.ok("NVML", "driver " + nvml.get().driverVersion()));
        Nvml.Seen seen = nvml.get().seen();
        for (Nvml.Gpu gpu : seen.gpus()) {
            findings.add(Finding.ok("GPU " + gpu.index(), gpu.name() + ", " + Size.format(gpu.totalBytes()) + ", "
                    + Size.format(gpu.usedBytes()) + " used, " + gpu.uuid()));
        }
        for (Nvml.Silent gpu : seen.silent()) {
            findings.add(Finding.fail("GPU " + gpu.index(), gpu.silence().why(), gpu.silence().remedy()));
        }
    }

    private void driver() {
        Optional<GpuDescription> gpu = ask(false);
        if (gpu.isEmpty()) {
            findings.add(Finding.fail("driver", "libcuda.so.1 is there, but no program can use a GPU through it",
                    "check that nvidia-smi works and that /dev/nvidia* may be opened; or use --sim"));
            return;
        }
        int version = gpu.get().driverVersion();
        String text = "CUDA " + version / 1000 + "." + version % 1000 / 10 + " on " + gpu.get().name()
                + ", memory in blocks of " + Size.format(gpu.get().granularityBytes());
        findings.add(version >= OLDEST_DRIVER
                ? Finding.ok("driver", text)
                : Finding.warn("driver", text, "drivers before CUDA 11.3 are not tested; update the driver"));
        findings.add(slices(SliceDriver.ofMachine()));
    }

    /// Off is the default, so it is no reason to warn.
    static Finding slices(SliceDriver driver) {
        return Finding.ok("time slices", driver.isChecked() ? "checked with this driver, and off unless " + driver.advice() + " is set"
                : "never checked with this driver, and off: high priorities, pauses and --strict wait for a kernel that runs; " + driver.advice() + " tries them");
    }

    private void simulated() {
        if (!Files.isReadable(installation.simulatedDriver().resolve("libcuda.so.1"))) {
            findings.add(Finding.warn("simulated GPU", installation.simulatedDriver() + " is missing", "build or install Sluice again"));
            return;
        }
        Optional<GpuDescription> gpu = ask(true);
        findings.add(gpu.isPresent()
                ? Finding.ok("simulated GPU", gpu.get().name() + ", " + Size.format(gpu.get().totalBytes()))
                : Finding.fail("simulated GPU", "it cannot be used", "look at the SLUICE_SIM_* variables; build or install Sluice again"));
    }

    private Optional<GpuDescription> ask(boolean simulated) {
        try {
            return Environment.of(installation, simulated).gpu();
        } catch (SluiceException e) {
            return Optional.empty();
        }
    }
}
