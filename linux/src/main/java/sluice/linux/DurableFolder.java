package sluice.linux;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;
import java.util.stream.Stream;

/// A folder of small files that one user writes and that survive a crash of process or machine: a file exists whole, or not at all. Other
/// users must not be able to write the folder.
///
/// @param path exists
public record DurableFolder(Path path) {
    private static final String UNFINISHED = ".unfinished-";
    private static final Duration LEFT_BEHIND = Duration.ofMinutes(1);
    private static final FileAttribute<Set<PosixFilePermission>> OF_OWNER = PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"));
    private static final Set<StandardOpenOption> NEW = Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);

    /// Makes the folder, for its owner alone, if it is not there. What a writer that was killed left behind is removed when it is old: another
    /// program of the same user may be writing, such as the one that this one replaces.
    public static DurableFolder make(Path path) throws IOException {
        if (Files.notExists(path)) {
            Files.createDirectories(path, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
        }
        try (Stream<Path> files = Files.list(path)) {
            for (Path file : files.filter(each -> each.getFileName().toString().startsWith(UNFINISHED)).toList()) {
                deleteIfOld(file);
            }
        }
        return new DurableFolder(path);
    }

    private static void deleteIfOld(Path file) throws IOException {
        try {
            if (Files.getLastModifiedTime(file).toInstant().isBefore(Instant.now().minus(LEFT_BEHIND))) {
                Files.deleteIfExists(file);
            }
        } catch (NoSuchFileException e) {
            // Its writer finished.
        }
    }

    /// Replaces the file with this name, if there is one. Only its owner can read it.
    public void write(String name, byte[] content) throws IOException {
        write(name, content, true);
        force();
    }

    /// As [#write], and does not wait for the disk: after a crash of the machine the file may be missing, old or empty. For what somebody else
    /// has on disk, and writes again.
    public void writeSoon(String name, byte[] content) throws IOException {
        write(name, content, false);
    }

    private void write(String name, byte[] content, boolean isForced) throws IOException {
        Path unfinished = path.resolve(UNFINISHED + UUID.randomUUID());
        try {
            try (FileChannel file = FileChannel.open(unfinished, NEW, OF_OWNER)) {
                ByteBuffer bytes = ByteBuffer.wrap(content);
                while (bytes.hasRemaining()) {
                    file.write(bytes);
                }
                if (isForced) {
                    file.force(true);
                }
            }
            Files.move(unfinished, path.resolve(name), StandardCopyOption.ATOMIC_MOVE);
        } catch (IOException e) {
            Files.deleteIfExists(unfinished);
            throw e;
        }
    }

    /// As [#delete], and does not wait for the disk: after a crash of the machine the file may be there again.
    ///
    /// @return whether the file existed
    public boolean deleteSoon(String name) throws IOException {
        return Files.deleteIfExists(path.resolve(name));
    }

    /// @return whether the file existed
    public boolean delete(String name) throws IOException {
        boolean deleted = deleteSoon(name);
        if (deleted) {
            force();
        }
        return deleted;
    }

    /// The files whose names begin and end so, by their names without both.
    public Map<String, byte[]> read(String prefix, String suffix) throws IOException {
        Map<String, byte[]> found = new TreeMap<>();
        try (Stream<Path> files = Files.list(path)) {
            for (Path file : files.toList()) {
                String name = file.getFileName().toString();
                if (name.startsWith(prefix) && name.endsWith(suffix) && name.length() >= prefix.length() + suffix.length()) {
                    try {
                        found.put(name.substring(prefix.length(), name.length() - suffix.length()), Files.readAllBytes(file));
                    } catch (NoSuchFileException e) {
                        // Deleted since the folder was listed.
                    }
                }
            }
        }
        return found;
    }

    /// Names are durable when their folder is on the disk.
    private void force() throws IOException {
        try (FileChannel folder = FileChannel.open(path, StandardOpenOption.READ)) {
            folder.force(true);
        }
    }
}
