package sluice.agent.os;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Set;
import java.util.UUID;
import sluice.region.SluiceException;

/// Writes a file that all may read into a folder that a stranger may be able to write too: under a name that nobody can guess, and then in the place of whatever
/// has the name. So no link is followed, and readers see all of it or the one before.
public final class PublishedFile {
    private static final Set<PosixFilePermission> READABLE = PosixFilePermissions.fromString("rw-r--r--");

    private PublishedFile() {}

    public static void write(Path folder, String name, String text) {
        Path unfinished = folder.resolve("." + UUID.randomUUID());
        try {
            try (FileChannel file = FileChannel.open(unfinished, Set.of(StandardOpenOption.WRITE, StandardOpenOption.CREATE_NEW, LinkOption.NOFOLLOW_LINKS),
                    PosixFilePermissions.asFileAttribute(READABLE))) {
                ByteBuffer bytes = ByteBuffer.wrap(text.getBytes(StandardCharsets.US_ASCII));
                while (bytes.hasRemaining()) {
                    file.write(bytes);
                }
            }
            Files.setPosixFilePermissions(unfinished, READABLE);
            Files.move(unfinished, folder.resolve(name), StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
        } catch (IOException e) {
            remove(unfinished);
            throw new SluiceException("the agent cannot write " + name + " in its folder", e);
        }
    }

    private static void remove(Path file) {
        try {
            Files.deleteIfExists(file);
        } catch (IOException e) {
            // The folder is gone, or not ours any more.
        }
    }
}
