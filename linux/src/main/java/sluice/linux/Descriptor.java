package sluice.linux;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.nio.ByteBuffer;
import java.nio.file.Path;

/// An open file of this process, by its number. Closed once, by whoever opened it.
public final class Descriptor implements AutoCloseable {
    static final int CURRENT_FOLDER = -100;
    static final int CLOSE_ON_EXEC = 0x80000;
    private static final long EMPTY_PATH = 0x1000;

    private final int number;
    private boolean closed;

    Descriptor(long number) {
        this.number = (int) number;
    }

    /// Opens an open file of this process again, by its [#path()].
    public static Descriptor again(Path path, boolean write) throws IOException {
        try (Arena arena = Arena.ofConfined()) {
            return new Descriptor(SystemCalls.checked(path.toString(), SystemCall.OPENAT, CURRENT_FOLDER, SystemCalls.text(path.toString(), arena),
                    (write ? 2 : 0) | CLOSE_ON_EXEC, 0));
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

    /// Hands the number to somebody else, who closes it.
    public int release() {
        closed = true;
        return number;
    }

    @Override
    public void close() {
        if (!closed) {
            closed = true;
            SystemCalls.call(SystemCall.CLOSE, number);
        }
    }
}
