package sluice.cli.run;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.EnumSet;
import sluice.region.place.SluiceException;

/// Folders that traces are recorded to.
public final class TraceTarget {
    private TraceTarget() {}

    /// Makes the folder of a new trace, or uses an empty folder.
    public static Path make(Path folder) {
        Path path = folder.toAbsolutePath().normalize();
        try {
            if (Files.isDirectory(path)) {
                requireEmpty(path);
            } else {
                if (path.getParent() != null) {
                    Files.createDirectories(path.getParent());
                }
                Files.createDirectory(path, PosixFilePermissions.asFileAttribute(EnumSet.of(
                        PosixFilePermission.OWNER_READ, PosixFilePermission.OWNER_WRITE, PosixFilePermission.OWNER_EXECUTE)));
            }
            return path;
        } catch (IOException e) {
            throw new SluiceException("cannot make the folder " + path + " for a trace (" + SluiceException.reason(e) + "); choose another", e);
        }
    }

    private static void requireEmpty(Path folder) throws IOException {
        String[] files = folder.toFile().list();
        if (files == null || files.length > 0) {
            throw new SluiceException("the folder " + folder + " is not empty; choose another for the trace, or empty it");
        }
    }

    /// Makes a folder beside a file, for a trace that is only needed until the file is written.
    public static Path makeTemporary(Path file) {
        Path folder = file.toAbsolutePath().getParent();
        try {
            return Files.createTempDirectory(folder, ".sluice-trace-");
        } catch (IOException e) {
            throw new SluiceException("cannot write to " + folder + " (" + SluiceException.reason(e) + "); choose another place with -o", e);
        }
    }

    public static void delete(Path folder) {
        try (DirectoryStream<Path> files = Files.newDirectoryStream(folder)) {
            for (Path file : files) {
                Files.deleteIfExists(file);
            }
            Files.deleteIfExists(folder);
        } catch (IOException e) {
            System.err.println("sluice: cannot delete " + folder + "; delete it yourself");
        }
    }
}
