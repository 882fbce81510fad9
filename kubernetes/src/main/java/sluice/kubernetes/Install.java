package sluice.kubernetes;

import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.UUID;
import sluice.region.place.SluiceException;

/// Copies the distribution from the image to the node, where containers find the library. Each file is replaced at once, and never written in
/// place: programs that run have the old one mapped.
final class Install {
    private static final String UNFINISHED = ".unfinished-";

    private final Path from;
    private final Path to;
    private int copied;

    private Install(Path from, Path to) {
        this.from = from;
        this.to = to;
    }

    /// @return how many files were new or different
    static int copy(Path from, Path to) {
        Install install = new Install(from, to);
        try {
            Files.walkFileTree(from, install.new Copy());
        } catch (IOException e) {
            throw new SluiceException("cannot copy " + from + " to " + to + " (" + SluiceException.reason(e) + ")", e);
        }
        return install.copied;
    }

    private final class Copy extends SimpleFileVisitor<Path> {
        @Override
        public FileVisitResult preVisitDirectory(Path folder, BasicFileAttributes attributes) throws IOException {
            Path made = to.resolve(from.relativize(folder).toString());
            Files.createDirectories(made);
            Files.setPosixFilePermissions(made, Files.getPosixFilePermissions(folder));
            return FileVisitResult.CONTINUE;
        }

        @Override
        public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) throws IOException {
            Path target = to.resolve(from.relativize(file).toString());
            if (!isSame(file, target)) {
                Path unfinished = target.resolveSibling(UNFINISHED + UUID.randomUUID());
                try {
                    Files.copy(file, unfinished, StandardCopyOption.COPY_ATTRIBUTES, LinkOption.NOFOLLOW_LINKS);
                    Files.move(unfinished, target, StandardCopyOption.ATOMIC_MOVE);
                } finally {
                    Files.deleteIfExists(unfinished);
                }
                copied++;
            }
            return FileVisitResult.CONTINUE;
        }

        private static boolean isSame(Path file, Path target) throws IOException {
            if (!Files.exists(target, LinkOption.NOFOLLOW_LINKS) || Files.isSymbolicLink(file) != Files.isSymbolicLink(target)) {
                return false;
            }
            return Files.isSymbolicLink(file) ? Files.readSymbolicLink(file).equals(Files.readSymbolicLink(target)) : Files.mismatch(file, target) < 0;
        }
    }
}
