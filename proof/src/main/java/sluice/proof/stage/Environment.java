package sluice.proof.stage;

import java.nio.file.Path;
import java.util.Optional;
import sluice.proof.facts.CheckFailed;
import sluice.proof.facts.Facts;
import sluice.region.place.Installation;

/// The subject of a proof: a library, on the machine's own driver or on the simulated one.
///
/// @param library         libsluice.so
/// @param simulatedDriver folder of the simulated libcuda.so.1; empty for the machine's own driver
public record Environment(Path library, Optional<Path> simulatedDriver) {

    public static Environment of(Installation installation, boolean simulated) {
        Installation loadable = installation.loadable();
        return new Environment(loadable.presentLibrary(),
                simulated ? Optional.of(loadable.presentSimulatedDriver()) : Optional.empty());
    }

    public boolean simulated() {
        return simulatedDriver.isPresent();
    }

    /// The GPU as its driver describes it, asked in a process of its own; empty when there is none that works.
    public Optional<GpuDescription> gpu() {
        try (Stage stage = new Stage(this)) {
            ProbeProcess probe = stage.start(stage.plainSettings());
            if (probe.ask("open").status() != 0) {
                return Optional.empty();
            }
            Facts facts = probe.ask("device");
            return Optional.of(new GpuDescription(facts.text("name"), facts.text("uuid"), facts.number("total"),
                    facts.number("granularity"), (int) facts.number("version"), simulated()));
        } catch (CheckFailed failed) {
            Interruption.rethrow();
            throw failed;
        }
    }

    /// @param driverVersion major * 1000 + minor * 10
    public record GpuDescription(
            String name, String uuid, long totalBytes, long granularityBytes, int driverVersion, boolean simulated) {}
}
