package sluice.agent.http;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.SecureRandom;
import java.util.EnumSet;
import java.util.HexFormat;
import java.util.Set;
import sluice.region.place.SluiceException;

/// The secret that lets a client of the port change things. It is in a file that only the agent's user can read, and stays the same until
/// the file is deleted.
public record Token(Path file, String secret) {
    private static final int BYTES = 24;
    private static final int OTHERS = 0077;

    public static Token in(Path folder) {
        Path file = folder.resolve("token");
        try {
            create(file);
            int mode = (Integer) Files.getAttribute(file, "unix:mode", LinkOption.NOFOLLOW_LINKS);
            if ((mode & OTHERS) != 0) {
                throw new SluiceException("the token file " + file + " is open to other users; delete it, and a new one is made");
            }
            String secret = Files.readString(file).strip();
            if (secret.length() < BYTES) {
                throw new SluiceException("the token in " + file + " is too short; delete the file, and a new one is made");
            }
            return new Token(file, secret);
        } catch (IOException e) {
            throw new SluiceException("cannot use the token file " + file + " (" + SluiceException.reason(e) + "); check who owns its folder", e);
        }
    }

    private static void create(Path file) throws IOException {
        byte[] random = new byte[BYTES];
        new SecureRandom().nextBytes(random);
        Set<StandardOpenOption> options = EnumSet.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
        try (var channel = Files.newByteChannel(file, options,
                PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")))) {
            channel.write(ByteBuffer.wrap((HexFormat.of().formatHex(random) + "\n").getBytes(StandardCharsets.UTF_8)));
        } catch (FileAlreadyExistsException e) {
            // Made by an earlier agent.
        }
    }
}
