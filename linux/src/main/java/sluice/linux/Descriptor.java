package sluice.linux;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.nio.ByteBuffer;
import java.nio.file.Path;

/// An open file of this process, by its number. The code that opened it closes it, once.
public final class Descriptor implements AutoCloseable {
    static final int CURRENT_FOLDER = -100;
    static final int READ_WRITE = 2;
    static final int NO_WAIT = 0x800;
    static final int CLOSE_ON_EXEC = 0x80000;
    static final int PATH_ONLY = 0x200000;
    private static final long EMPTY_PATH = 0x1000;
    private static final String OPEN_FILES = "/proc/self/fd/";

    private final int number;
    private final FileStatus checked;
    private boolean closed;

    Descriptor(long number) {
        this(number, null);
    }

    /// @param checked the status of this file when its rules were checked
    Descriptor(long number, FileStatus checked) {
        this.number = (int) number;
        this.checked = checked;
    }

    /// Opens what a name in `/proc` stands for, an open file or a mapping, if it keeps to the rules.
    public static Descriptor again(Path path, FileRules rules, boolean write) throws IOException {
        try (Descriptor found = open(path.toString(), PATH_ONLY)) {
            return found.reopen(path.toString(), rules, write);
        }
    }

    private static Descriptor open(String path, int flags) throws IOException {
        return new Descriptor(number(path, path, flags));
    }

    private static long number(String what, String path, int flags) throws IOException {
        try (Arena arena = Arena.ofConfined()) {
            return SystemCalls.checked(what, SystemCall.OPENAT, CURRENT_FOLDER, SystemCalls.text(path, arena), flags | CLOSE_ON_EXEC | NO_WAIT, 0);
        }
    }

    /// Opens the same file for use, if it keeps to the rules. @param what its name, for people
    Descriptor reopen(String what, FileRules rules, boolean write) throws IOException {
        FileStatus status = status();
        rules.check(what, status);
        return new Descriptor(number(what, OPEN_FILES + number, write ? READ_WRITE : 0), status);
    }

    public int number() {
        return number;
    }

    /// A path by which Java opens the same file again, even if its name has changed or is gone.
    public Path path() {
        return Path.of(OPEN_FILES + number);
    }

    /// The status of the file when its rules were checked, just before it was opened. Owner and type are still the same; its user may have
    /// truncated it since.
    public FileStatus checked() {
        return checked;
    }

    public FileStatus status() throws IOException {
        try (Arena arena = Arena.ofConfined()) {
            ByteBuffer status = SystemCalls.memory(FileStatus.STRUCT_BYTES, arena);
            SystemCalls.checked("an open file", SystemCall.STATX, number, SystemCalls.text("", arena), EMPTY_PATH, FileStatus.BASIC,
                    SystemCalls.address(status));
            return FileStatus.of(status);
        }
    }

    /// Makes a user its owner.
    public void give(long uid) throws IOException {
        SystemCalls.checked("an open file", SystemCall.FCHOWN, number, uid, -1);
    }

    public void setRights(int rights) throws IOException {
        SystemCalls.checked("an open file", SystemCall.FCHMOD, number, rights);
    }

    @Override
    public void close() {
        if (!closed) {
            closed = true;
            SystemCalls.call(SystemCall.CLOSE, number);
        }
    }
}
