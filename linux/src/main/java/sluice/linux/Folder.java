package sluice.linux;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.FileSystemException;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;

/// An open folder. Its user may rename anything at any time. All methods still work in this folder, follow no link and never wait.
public final class Folder implements AutoCloseable {
    /// The most entries that are read: a user could make millions.
    public static final int MOST_ENTRIES = 16 * 1024;

    private static final int EXCLUSIVE = 2;
    private static final int AT_ONCE = 4;
    private static final int CREATE_NEW = 0x40 | 0x80;
    private static final int LONGEST_NAME = 255;
    private static final long KEEP_TIME = (1L << 30) - 2;
    private static final long REMOVE_FOLDER = 0x200;
    private static final long FOLLOW_NO_LINK = 0x100;

    private final Path path;
    private final Descriptor descriptor;

    private Folder(Path path, Descriptor descriptor) {
        this.path = path;
        this.descriptor = descriptor;
    }

    /// Opens a folder by a path whose parents only trusted users can change; the last name must not be a link.
    public static Folder open(Path path) throws IOException {
        return open(path, Descriptor.CURRENT_FOLDER, path.toString());
    }

    /// Opens a folder in this one.
    public Folder folder(String name) throws IOException {
        return open(path.resolve(name), descriptor.number(), valid(name));
    }

    private static Folder open(Path path, int parent, String name) throws IOException {
        return new Folder(path, openat(path, parent, name, Processor.O_DIRECTORY | Processor.O_NOFOLLOW, 0));
    }

    private static Descriptor openat(Path path, int parent, String name, int flags, int rights) throws IOException {
        try (Arena arena = Arena.ofConfined()) {
            return new Descriptor(SystemCalls.checked(path.toString(), SystemCall.OPENAT, parent, SystemCalls.text(name, arena),
                    flags | Descriptor.CLOSE_ON_EXEC | Descriptor.NO_WAIT, rights));
        }
    }

    private String valid(String name) throws FileSystemException {
        if (name.isEmpty() || name.equals(".") || name.equals("..") || name.length() > LONGEST_NAME || name.indexOf('/') >= 0 || name.indexOf('\0') >= 0) {
            throw new FileSystemException(name, null, "is not a name of a file");
        }
        return name;
    }

    public Path path() {
        return path;
    }

    public FileStatus status() throws IOException {
        return descriptor.status();
    }

    /// Takes the lock of the folder, until it is closed here. @return whether it is ours now; false when it is open elsewhere with the lock
    public boolean lock() throws IOException {
        long result = SystemCalls.result(SystemCall.FLOCK, descriptor.number(), EXCLUSIVE | AT_ONCE);
        if (result < 0 && result != -Errno.EAGAIN) {
            throw Errno.exception(path.toString(), (int) -result);
        }
        return result == 0;
    }

    /// The status of a name; of a symbolic link itself, as lstat.
    public FileStatus status(String name) throws IOException {
        try (Descriptor file = find(name)) {
            return file.status();
        }
    }

    /// Opens the file without the right to read it (O_PATH), which has no effect on a pipe or a device.
    private Descriptor find(String name) throws IOException {
        return openat(path.resolve(name), descriptor.number(), valid(name), Descriptor.PATH_ONLY | Processor.O_NOFOLLOW, 0);
    }

    /// Opens a file that keeps to the rules.
    public FileChannel open(String name, FileRules rules, OpenOption... options) throws IOException {
        try (Descriptor file = find(name)) {
            rules.check(path.resolve(name).toString(), file.status());
            return FileChannel.open(file.path(), Set.of(options));
        }
    }

    /// The same, to map it, to lock it or to hand it on.
    public Descriptor openDescriptor(String name, FileRules rules, boolean write) throws IOException {
        try (Descriptor file = find(name)) {
            return file.reopen(path.resolve(name).toString(), rules, write);
        }
    }

    /// The content of a file that keeps to the rules.
    public byte[] read(String name, FileRules rules) throws IOException {
        try (FileChannel file = open(name, rules, StandardOpenOption.READ)) {
            ByteBuffer content = ByteBuffer.allocate((int) Math.min(file.size(), Math.min(rules.mostBytes(), Integer.MAX_VALUE - 8)));
            while (content.hasRemaining() && file.read(content) > 0) {
                continue;
            }
            return Arrays.copyOf(content.array(), content.position());
        }
    }

    /// Makes a new file; fails if the name exists.
    public Descriptor create(String name, int rights) throws IOException {
        return openat(path.resolve(name), descriptor.number(), valid(name), Descriptor.READ_WRITE | CREATE_NEW | Processor.O_NOFOLLOW, rights);
    }

    /// The names that are wanted, of the first [#MOST_ENTRIES]; none when the folder cannot be read.
    public List<String> names(Predicate<String> wanted) {
        return names(wanted, MOST_ENTRIES, MOST_ENTRIES);
    }

    /// @param mostNames   that are wanted
    /// @param mostEntries that are looked at
    public List<String> names(Predicate<String> wanted, int mostNames, int mostEntries) {
        try (Descriptor again = openat(path, descriptor.number(), ".", Processor.O_DIRECTORY, 0)) {
            return new FolderNames(again).list(wanted, mostNames, mostEntries);
        } catch (IOException e) {
            // Nothing to see.
            return List.of();
        }
    }

    /// Deletes a name; of a symbolic link the link itself, not its target.
    public void delete(String name) throws IOException {
        atName(SystemCall.UNLINKAT, name, 0);
    }

    public void makeFolder(String name, int rights) throws IOException {
        atName(SystemCall.MKDIRAT, name, rights);
    }

    /// Removes an empty folder.
    public void deleteFolder(String name) throws IOException {
        atName(SystemCall.UNLINKAT, name, REMOVE_FOLDER);
    }

    /// Makes a user its owner.
    public void give(long uid) throws IOException {
        descriptor.give(uid);
    }

    /// Sets the time of the last change of a name; of a symbolic link the link itself, not its target.
    public void setModified(String name, Instant time) throws IOException {
        try (Arena arena = Arena.ofConfined()) {
            ByteBuffer times = SystemCalls.memory(4 * Long.BYTES, arena).putLong(Long.BYTES, KEEP_TIME)
                    .putLong(2 * Long.BYTES, time.getEpochSecond()).putLong(3 * Long.BYTES, time.getNano());
            SystemCalls.checked(path.resolve(name).toString(), SystemCall.UTIMENSAT, descriptor.number(), SystemCalls.text(valid(name), arena),
                    SystemCalls.address(times), FOLLOW_NO_LINK);
        }
    }

    private void atName(SystemCall call, String name, long third) throws IOException {
        try (Arena arena = Arena.ofConfined()) {
            SystemCalls.checked(path.resolve(name).toString(), call, descriptor.number(), SystemCalls.text(valid(name), arena), third);
        }
    }

    /// Renames a file, and replaces any file that has the new name.
    public void rename(String from, String to) throws IOException {
        atNames(SystemCall.RENAMEAT2, from, to);
    }

    /// Gives a file one more name; fails if the name exists.
    public void link(String from, String to) throws IOException {
        atNames(SystemCall.LINKAT, from, to);
    }

    private void atNames(SystemCall call, String from, String to) throws IOException {
        try (Arena arena = Arena.ofConfined()) {
            SystemCalls.checked(path.resolve(to).toString(), call, descriptor.number(), SystemCalls.text(valid(from), arena), descriptor.number(),
                    SystemCalls.text(valid(to), arena), 0);
        }
    }

    @Override
    public void close() {
        descriptor.close();
    }
}
