package sluice.region.boards;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Set;
import sluice.region.RegionFile;
import sluice.region.place.SluiceException;

/// Makes the file of a board: complete under a temporary name, then linked to its real one, so that only one of two creators succeeds.
/// Every page is written: on a full tmpfs a mapped hole kills the process that touches it.
final class BoardFile {
    private BoardFile() {}

    static void create(Path file, byte[] uuid) {
        Path temporary = file.resolveSibling(file.getFileName() + "." + ProcessHandle.current().pid() + RegionFile.TEMPORARY_SUFFIX);
        ByteBuffer content = ByteBuffer.allocateDirect((int) Board.BYTES).order(ByteOrder.nativeOrder());
        Board.initialise(MemorySegment.ofBuffer(content), uuid);
        try {
            Files.deleteIfExists(temporary);
            try (FileChannel made = FileChannel.open(temporary, Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE),
                    PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")))) {
                while (content.hasRemaining()) {
                    made.write(content);
                }
            }
            Files.createLink(file, temporary);
        } catch (FileAlreadyExistsException e) {
            // A library was faster.
        } catch (IOException e) {
            throw new SluiceException("cannot make board " + file + " (" + SluiceException.reason(e) + "); free space there", e);
        } finally {
            RegionFile.deleteQuietly(temporary);
        }
    }
}
