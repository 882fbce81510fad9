package sluice.kubernetes.plugin;

import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.SecureRandom;
import java.util.stream.Collectors;
import sluice.region.place.SluiceException;

/// The workspaces of Alnair's containers on the node: a folder for each ALNAIR_ID.
///
/// A container can write its own, as any user, and the sticky bit keeps it from replacing `limits` and `podInfo`. Other users of the node cannot
/// list the folder above. Nothing in a workspace is read here, and no link in it is followed.
record AlnairFolders(Path root) {
    private static final SecureRandom RANDOM = new SecureRandom();
    private static final String LETTERS = "abcdefghijkmnpqrstuvwxyz23456789";
    private static final int ID_LENGTH = 16;

    /// Nobody can guess it.
    static String newId() {
        return RANDOM.ints(ID_LENGTH, 0, LETTERS.length()).mapToObj(at -> LETTERS.substring(at, at + 1)).collect(Collectors.joining());
    }

    Path of(String id) {
        return root.resolve(id);
    }

    /// Again changes nothing.
    void make(String id, long bytes) {
        try {
            if (Files.notExists(root)) {
                Files.createDirectories(root);
                Files.setPosixFilePermissions(root, PosixFilePermissions.fromString("rwx--x--x"));
            }
            if (Files.notExists(of(id), LinkOption.NOFOLLOW_LINKS)) {
                Files.createDirectory(of(id));
            }
            write(id, "limits", "vmem:" + bytes + "\n");
            // Sticky, and writable for all: no name of Java's covers the sticky bit.
            Files.setAttribute(of(id), "unix:mode", 01777, LinkOption.NOFOLLOW_LINKS);
        } catch (IOException e) {
            throw new SluiceException("cannot make the workspace " + of(id) + " (" + SluiceException.reason(e) + ")", e);
        }
    }

    void describe(String id, GivenUnits.Holder holder) {
        try {
            write(id, "podInfo", "podName:" + holder.pod() + "\nnamespace:" + holder.namespace() + "\n");
        } catch (IOException e) {
            throw new SluiceException("cannot write podInfo into " + of(id) + " (" + SluiceException.reason(e) + ")", e);
        }
    }

    /// The unfinished file is beside the workspaces, where no container can replace it by a link.
    private void write(String id, String name, String text) throws IOException {
        Path unfinished = root.resolve("." + id + "-" + name);
        Files.deleteIfExists(unfinished);
        Files.writeString(unfinished, text);
        Files.setPosixFilePermissions(unfinished, PosixFilePermissions.fromString("rw-r--r--"));
        Files.move(unfinished, of(id).resolve(name), StandardCopyOption.ATOMIC_MOVE);
    }

    void remove(String id) {
        try {
            Files.walkFileTree(of(id), new SimpleFileVisitor<>() {
                @Override
                public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) throws IOException {
                    Files.deleteIfExists(file);
                    return FileVisitResult.CONTINUE;
                }

                @Override
                public FileVisitResult postVisitDirectory(Path folder, IOException problem) throws IOException {
                    Files.deleteIfExists(folder);
                    return FileVisitResult.CONTINUE;
                }
            });
        } catch (NoSuchFileException e) {
            // It is gone already.
        } catch (IOException e) {
            throw new SluiceException("cannot remove the workspace " + of(id) + " (" + SluiceException.reason(e) + ")", e);
        }
    }
}
