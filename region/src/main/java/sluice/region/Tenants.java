package sluice.region;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import sluice.linux.Folder;

/// The tenants of one user, found by their regions.
///
/// No process can say of itself that it has ended. So the first tool that sees an ended tenant marks its file by
/// setting the time of its last change to a whole second, and the file is deleted 15 minutes after that.
/// A process that takes part in the region changes the time again, and so takes the mark away.
public final class Tenants {
    private static final Duration KEEP_ENDED = Duration.ofMinutes(15);
    private static final Duration KEEP_UNUSED = Duration.ofMinutes(1);
    private static final Duration KEEP_TEMPORARY = Duration.ofMinutes(1);
    private static final Duration SWEEP_PERIOD = Duration.ofMinutes(5);
    private static final int FILES_BEFORE_SWEEP = 32;
    private static final String SWEPT = ".swept";
    private static final String SUFFIX = ".region";

    private final List<RuntimeDirectory> directories;

    public Tenants(List<RuntimeDirectory> directories) {
        this.directories = List.copyOf(directories);
    }

    /// All tenants that can be read, oldest first. Regions of another layout are left out; [#unreadable] names them.
    public List<Tenant> list() {
        return list(Processes.BY_PROC);
    }

    /// The same, for who knows who lives.
    public List<Tenant> list(Processes known) {
        List<Tenant> tenants = new ArrayList<>();
        for (Path file : files(SUFFIX)) {
            try {
                tenants.add(Tenant.read(file, known));
            } catch (SluiceException e) {
                // Gone since, or listed by unreadable().
            }
        }
        tenants.sort(Comparator.comparingLong(Tenant::createdNanos).thenComparing(Tenant::name));
        return tenants;
    }

    /// Why some files cannot be shown.
    public List<String> unreadable() {
        List<String> reasons = new ArrayList<>();
        for (Path file : files(SUFFIX)) {
            try (Region region = Region.openHere(file)) {
                region.header();
            } catch (RegionException e) {
                reasons.add(e.getMessage());
            } catch (SluiceException e) {
                // Gone since the listing.
            }
        }
        return reasons;
    }

    /// The tenant that a user means: by the path of its region, its name, the pid of one of its processes, or the
    /// beginning of its name when no other begins so, or no other that runs.
    public Tenant find(String wanted) {
        if (wanted.contains("/")) {
            return Tenant.read(Path.of(wanted));
        }
        return choose(list(), wanted).orElseGet(() -> unmatched(wanted));
    }

    /// The one of some tenants that a user means, in the same ways but for the path.
    public static Optional<Tenant> choose(List<Tenant> tenants, String wanted) {
        List<Tenant> named = tenants.stream().filter(tenant -> tenant.name().equals(wanted)).toList();
        List<Tenant> owning = tenants.stream().filter(tenant -> hasProcess(tenant, wanted)).toList();
        List<Tenant> begun = tenants.stream().filter(tenant -> !wanted.isEmpty() && tenant.name().startsWith(wanted)).toList();
        List<Tenant> running = begun.stream().filter(Tenant::running).toList();
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

    /// Sweeps a folder in which files have gathered, at most once in a few minutes: for who starts jobs and never looks.
    public static void sweepSometimes(RuntimeDirectory directory, Instant now) {
        String[] files = directory.path().toFile().list();
        if (files == null || files.length <= FILES_BEFORE_SWEEP) {
            return;
        }
        try (Folder folder = Folder.open(directory.path())) {
            if (isDue(folder, now)) {
                folder.setModified(SWEPT, now);
                new Tenants(List.of(directory)).sweep(now);
            }
        } catch (IOException e) {
            // A folder that cannot be written is reported by who needs to write there.
        }
    }

    private static boolean isDue(Folder folder, Instant now) throws IOException {
        try {
            return folder.status(SWEPT).modified().plus(SWEEP_PERIOD).isBefore(now);
        } catch (NoSuchFileException e) {
            folder.create(SWEPT, 0600).close();
            return true;
        }
    }

    /// Deletes what nobody needs any more: tenants that ended a while ago, and files of creators that died.
    public void sweep(Instant now) {
        for (RuntimeDirectory directory : directories) {
            try (Folder folder = Folder.open(directory.path())) {
                sweep(directory, folder, now);
            } catch (IOException e) {
                // Gone already.
            }
        }
    }

    private static void sweep(RuntimeDirectory directory, Folder folder, Instant now) {
        for (Path file : directory.files("", SUFFIX)) {
            try {
                Tenant tenant = Tenant.read(file);
                if (!tenant.running()) {
                    sweepEnded(tenant, folder, now);
                }
            } catch (SluiceException | IOException e) {
                // Not ours to judge, or gone already.
            }
        }
        for (Path file : directory.files("", RegionFile.TEMPORARY_SUFFIX)) {
            try {
                sweepOlder(folder, name(file), KEEP_TEMPORARY, now);
            } catch (IOException e) {
                // Gone already.
            }
        }
    }

    /// A tenant that never used a GPU leaves nothing worth looking at.
    private static void sweepEnded(Tenant tenant, Folder folder, Instant now) throws IOException {
        boolean unused = tenant.gpus().isEmpty() && tenant.errors().isEmpty();
        String name = name(tenant.file());
        if (folder.status(name).modified().getNano() != 0) {
            folder.setModified(name, now.truncatedTo(ChronoUnit.SECONDS));
        } else if (sweepOlder(folder, name, unused ? KEEP_UNUSED : KEEP_ENDED, now)) {
            folder.delete(name(RegionFile.ledger(tenant.file())));
        }
    }

    private static boolean sweepOlder(Folder folder, String name, Duration age, Instant now) throws IOException {
        boolean old = folder.status(name).modified().plus(age).isBefore(now);
        if (old) {
            folder.delete(name);
        }
        return old;
    }

    private static String name(Path file) {
        return file.getFileName().toString();
    }

    private List<Path> files(String suffix) {
        List<Path> files = new ArrayList<>();
        directories.forEach(directory -> files.addAll(directory.files("", suffix)));
        return files;
    }
}
