package sluice.region;

import java.io.IOException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import sluice.linux.Folder;
import sluice.region.place.RuntimeDirectory;

/// Deletes files that no process needs any more.
///
/// A tenant cannot report its own end. So the first tool that sees an ended tenant marks its file: it sets the time of the last change to a
/// whole second. A tool deletes the file 15 minutes later. A process that takes part in the region changes the time again, and so removes
/// the mark.
final class Sweep {
    private static final Duration KEEP_ENDED = Duration.ofMinutes(15);
    private static final Duration KEEP_UNUSED = Duration.ofMinutes(1);
    private static final Duration KEEP_TEMPORARY = Duration.ofMinutes(1);
    private static final Duration SWEEP_PERIOD = Duration.ofMinutes(5);
    private static final int FILES_BEFORE_SWEEP = 32;
    private static final String SWEPT = ".swept";

    private Sweep() {}

    /// Whether a folder has many files and was not swept lately. Also marks it as swept now.
    static boolean isDue(RuntimeDirectory directory, Instant now) {
        String[] files = directory.path().toFile().list();
        if (files == null || files.length <= FILES_BEFORE_SWEEP) {
            return false;
        }
        try (Folder folder = Folder.open(directory.path())) {
            boolean due = isDue(folder, now);
            if (due) {
                folder.setModified(SWEPT, now);
            }
            return due;
        } catch (IOException e) {
            // A folder that cannot be written is reported by the process that needs to write there.
            return false;
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

    /// @param tenants the tenants that a look at the folder has just found; may include others
    /// @return those that were deleted
    static List<Tenant> in(RuntimeDirectory directory, List<Tenant> tenants, Instant now) {
        List<Tenant> deleted = new ArrayList<>();
        try (Folder folder = Folder.open(directory.path())) {
            for (Tenant tenant : tenants) {
                if (!tenant.state().lives() && directory.path().equals(tenant.file().getParent()) && ended(tenant, folder, now)) {
                    deleted.add(tenant);
                }
            }
            for (Path file : directory.files("", RegionFile.TEMPORARY_SUFFIX)) {
                older(folder, name(file), KEEP_TEMPORARY, now);
            }
        } catch (IOException e) {
            // Gone already.
        }
        return deleted;
    }

    /// The file of a tenant that never used a GPU has nothing to show.
    private static boolean ended(Tenant tenant, Folder folder, Instant now) {
        boolean unused = tenant.gpus().isEmpty() && tenant.errors().isEmpty();
        String name = name(tenant.file());
        try {
            if (folder.status(name).modified().getNano() != 0) {
                folder.setModified(name, now.truncatedTo(ChronoUnit.SECONDS));
                return false;
            }
        } catch (IOException e) {
            // Not ours to judge, or gone already.
            return false;
        }
        boolean old = older(folder, name, unused ? KEEP_UNUSED : KEEP_ENDED, now);
        if (old) {
            delete(folder, name(RegionFile.ledger(tenant.file())));
        }
        return old;
    }

    private static boolean older(Folder folder, String name, Duration age, Instant now) {
        try {
            return folder.status(name).modified().plus(age).isBefore(now) && delete(folder, name);
        } catch (IOException e) {
            // Gone already.
            return false;
        }
    }

    private static boolean delete(Folder folder, String name) {
        try {
            folder.delete(name);
            return true;
        } catch (IOException e) {
            // Gone already, or of a region in one file.
            return false;
        }
    }

    private static String name(Path file) {
        return file.getFileName().toString();
    }
}
