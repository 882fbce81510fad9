package sluice.linux;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.nio.ByteBuffer;

/// A short file of `/proc` about a process. A look at many processes reads thousands of them, so this takes no more than the system calls.
public final class ProcFile {
    /// A user decides how long the command line of a process is. A longer file is cut off.
    public static final int MOST_BYTES = 4096;

    private ProcFile() {}

    /// @param process a pid, or `self`
    public static byte[] read(String process, String file) throws IOException {
        String path = "/proc/" + process + "/" + file;
        try (Arena arena = Arena.ofConfined()) {
            ByteBuffer content = SystemCalls.memory(MOST_BYTES, arena);
            long number = SystemCalls.call(SystemCall.OPENAT, Descriptor.CURRENT_FOLDER, SystemCalls.text(path, arena),
                    Descriptor.CLOSE_ON_EXEC | Descriptor.NO_WAIT | Processor.O_NOFOLLOW);
            if (number < 0) {
                throw new IOException("cannot open " + path);
            }
            try (Descriptor open = new Descriptor(number)) {
                byte[] bytes = new byte[fill(open, SystemCalls.address(content), path)];
                content.get(0, bytes);
                return bytes;
            }
        }
    }

    private static int fill(Descriptor open, long address, String path) throws IOException {
        int length = 0;
        while (length < MOST_BYTES) {
            long read = SystemCalls.call(SystemCall.READ, open.number(), address + length, MOST_BYTES - length);
            if (read < 0) {
                throw new IOException("cannot read " + path);
            }
            if (read == 0) {
                break;
            }
            length += (int) read;
        }
        return length;
    }
}
