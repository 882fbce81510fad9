package sluice.region;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import sluice.region.place.Processes;
import sluice.region.place.RuntimeDirectory;
import sluice.region.place.SluiceException;

/// The tenants of one user, found by their regions.
public final class Tenants {
    private final List<RuntimeDirectory> directories;

    public Tenants(List<RuntimeDirectory> directories) {
        this.directories = List.copyOf(directories);
    }

    /// The result of reading all regions once.
    ///
    /// @param tenants    oldest first
    /// @param unreadable why some files cannot be shown, such as regions of another layout
    public record Look(List<Tenant> tenants, List<String> unreadable) {}

    /// All tenants that can be read, oldest first.
    public List<Tenant> list() {
        return look(Processes.once()).tenants();
    }

    /// Reads every region once.
    public Look look(Processes known) {
        Look look = new Look(new ArrayList<>(), new ArrayList<>());
        for (RuntimeDirectory directory : directories) {
            try (RegionFolder folder = RegionFolder.open(directory)) {
                folder.regions().forEach(file -> read(file, folder, known, look));
            } catch (IOException e) {
                // Gone already, or not ours to read.
            }
        }
        look.tenants().sort(Comparator.comparingLong(Tenant::createdNanos).thenComparing(Tenant::name));
        return look;
    }

    private static void read(Path file, RegionFolder folder, Processes known, Look look) {
        try {
            look.tenants().add(folder.read(file, known));
        } catch (RegionException e) {
            look.unreadable().add(e.getMessage());
        } catch (SluiceException e) {
            // Gone since the listing.
        }
    }

    /// The tenant that a user means: by the path of its region, its name, the pid of one of its processes, or the beginning of its name.
    /// The beginning must be unique among all tenants, or among those that run.
    public Tenant find(String wanted) {
        if (wanted.contains("/")) {
            return Tenant.read(Path.of(wanted));
        }
        return choose(list(), wanted).orElseGet(() -> unmatched(wanted));
    }

    /// Finds the tenant among some, in the same ways but by path.
    public static Optional<Tenant> choose(List<Tenant> tenants, String wanted) {
        List<Tenant> named = tenants.stream().filter(tenant -> tenant.name().equals(wanted)).toList();
        List<Tenant> owning = tenants.stream().filter(tenant -> hasProcess(tenant, wanted)).toList();
        List<Tenant> begun = tenants.stream().filter(tenant -> !wanted.isEmpty() && tenant.name().startsWith(wanted)).toList();
        List<Tenant> running = begun.stream().filter(tenant -> tenant.state().lives()).toList();
        for (List<Tenant> matches : List.of(named, owning, running, begun)) {
            if (matches.size() == 1) {
                return Optional.of(matches.getFirst());
            }
            if (matches.size() > 1) {
                throw new SluiceException("'" + wanted + "' means several tenants ("
                        + String.join(", ", matches.stream().map(Tenant::name).toList()) + "); give one name in full");
            }
        }
        return Optional.empty();
    }

    private Tenant unmatched(String wanted) {
        for (RuntimeDirectory directory : directories) {
            if (Files.exists(directory.region(wanted))) {
                return Tenant.read(directory.region(wanted));
            }
        }
        throw new SluiceException("there is no tenant '" + wanted + "'; 'sluice ps --all' lists the tenants");
    }

    private static boolean hasProcess(Tenant tenant, String pid) {
        return Long.toString(tenant.root().pid()).equals(pid)
                || tenant.processes().stream().anyMatch(process -> Long.toString(process.identity().pid()).equals(pid));
    }

    /// Sweeps a folder with many files, at most once in a few minutes, for a user that starts jobs and never lists them.
    public static void sweepSometimes(RuntimeDirectory directory, Instant now) {
        if (Sweep.isDue(directory, now)) {
            new Tenants(List.of(directory)).sweep(now);
        }
    }

    /// Deletes files that are no longer needed: of tenants that ended a while ago, and of creators that died.
    ///
    /// @return all other tenants
    public Look sweep(Instant now) {
        Look look = look(Processes.once());
        List<Tenant> left = new ArrayList<>(look.tenants());
        directories.forEach(directory -> left.removeAll(Sweep.in(directory, look.tenants(), now)));
        return new Look(left, look.unreadable());
    }
}
