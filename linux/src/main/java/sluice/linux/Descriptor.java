package sluice.linux;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.nio.ByteBuffer;
import java.nio.file.Path;

/// An open file of this process, by its number. Closed once, by whoever opened it.
public final class Descriptor implements AutoCloseable {
    static final int CURRENT_FOLDER = -100;
    static final int READ_WRITE = 2;
    static final int NO_WAIT = 0x800;
    static final int CLOSE_ON_EXEC = 0x80000;
    static final int PATH_ONLY = 0x200000;
    private static final long EMPTY_PATH = 0x1000;

    private final int number;
    private boolean closed;

    Descriptor(long number) {
        this.number = (int) number;
    }

    /// Opens what a name in `/proc` stands for, an open file or a mapping, if it keeps to the rules.
    public static Descriptor again(Path path, FileRules rules, boolean write) throws IOException {
        try (Descriptor found = open(path.toString(), PATH_ONLY)) {
            rules.check(path.toString(), found.status());
            return open(found.path().toString(), write ? READ_WRITE : 0);
        }
    }

    private static Descriptor open(String path, int flags) throws IOException {
        try (Arena arena = Arena.ofConfined()) {
            return new Descriptor(SystemCalls.checked(path, SystemCall.OPENAT, CURRENT_FOLDER, SystemCalls.text(path, arena),
                    flags | CLOSE_ON_EXEC | NO_WAIT, 0));
        }
    }

    public int number() {
        return number;
    }

    /// By which Java opens the same file again, whatever has become of its name.
    public Path path() {
        return Path.of("/proc/self/fd", Integer.toString(number));
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
