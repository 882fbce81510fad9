package sluice.region.place;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import sluice.linux.Descriptor;
import sluice.linux.FileRules;
import sluice.linux.Folder;

/// Opens a file of a runtime directory, which may be another user's: it must be a regular file of the user whose folder it is. In a folder
/// of our own any user may own it, because no other user can put it there.
public final class RuntimeFile {
    /// Far more than any layout needs. A sparse file could be longer than can be mapped.
    private static final long MOST_BYTES = 64L << 20;
    /// A new region has two names for a moment: see `RegionFile`.
    private static final int MOST_NAMES = 2;
    private static final Path OPEN_FILES = Path.of("/proc");
    public static final long OWN_UID = Integer.toUnsignedLong(ThisProcess.current().uid());

    private RuntimeFile() {}

    public static FileRules rules(Folder folder) throws IOException {
        long owner = folder.status().uid();
        return new FileRules(owner == OWN_UID ? FileRules.ANYBODY : owner, MOST_BYTES, MOST_NAMES);
    }

    public static FileChannel read(Path file) throws IOException {
        if (file.startsWith(OPEN_FILES)) {
            try (Descriptor open = open(file, false)) {
                return FileChannel.open(open.path(), StandardOpenOption.READ);
            }
        }
        try (Folder folder = Folder.open(file.toAbsolutePath().getParent())) {
            return folder.open(file.getFileName().toString(), rules(folder), StandardOpenOption.READ);
        }
    }

    /// Follows the name in `/proc` of a file that a process has open or mapped: it stands for exactly this file.
    public static Descriptor open(Path file, boolean write) throws IOException {
        if (file.startsWith(OPEN_FILES)) {
            return Descriptor.again(file, new FileRules(FileRules.ANYBODY, MOST_BYTES, MOST_NAMES), write);
        }
        try (Folder folder = Folder.open(file.toAbsolutePath().getParent())) {
            return folder.openDescriptor(file.getFileName().toString(), rules(folder), write);
        }
    }
}
