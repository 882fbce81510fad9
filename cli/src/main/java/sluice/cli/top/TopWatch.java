package sluice.cli.top;

import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import sluice.cli.tenants.SeenTenants;
import sluice.cuda.Nvml;
import sluice.region.Tenant;
import sluice.region.place.SluiceException;

/// Reads tenants, boards and the driver repeatedly.
final class TopWatch {
    private final Map<String, String> environment;
    private final Optional<Nvml> nvml = Nvml.open();
    private TopLook last = TopLook.NONE;

    TopWatch(Map<String, String> environment) {
        this.environment = environment;
    }

    TopLook look() {
        try {
            SeenTenants seen = new SeenTenants(environment);
            List<Tenant> running = seen.list().stream().filter(tenant -> tenant.state().lives()).toList();
            last = TopLook.of(running, seen.boards().boards(), machine(), Instant.now(), System.nanoTime(), last);
        } catch (SluiceException e) {
            // An agent that ends while it is asked: the next look does without it.
            if (last == TopLook.NONE) {
                throw e;
            }
        }
        return last;
    }

    /// If the driver stops answering, the values of the regions stay. The name of a GPU that does not answer says so.
    private List<Nvml.Gpu> machine() {
        try {
            return nvml.map(Nvml::seen).map(TopWatch::all).orElse(List.of());
        } catch (IllegalStateException e) {
            return List.of();
        }
    }

    private static List<Nvml.Gpu> all(Nvml.Seen seen) {
        return Stream.concat(seen.gpus().stream(), seen.silent().stream()
                .map(gpu -> new Nvml.Gpu(gpu.index(), gpu.uuid(), gpu.silence().why(), gpu.totalBytes(), 0, 0))).toList();
    }
}
