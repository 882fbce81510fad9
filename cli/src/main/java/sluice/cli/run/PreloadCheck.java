package sluice.cli.run;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import sluice.cli.process.Exec;
import sluice.cli.process.RawProcess;
import sluice.linux.ProgramCalls;

/// Finds before the start why a program would not load the library. Without the library no limit holds, and nothing would report that.
///
/// It checks the file, and the interpreter of a script. It cannot check programs that the program starts later.
public final class PreloadCheck {
    private static final int SETUID = 04000;
    private static final int SETGID = 02000;
    private static final int GROUP_EXECUTES = 010;
    private static final String CAPABILITIES = "security.capability";

    private static final int MOST_INTERPRETERS = 5;
    private static final int FIRST_LINE_BYTES = 256;
    private static final int ELF_MAGIC = 0x464c457f;
    private static final int ELF_64_BIT = 2;
    private static final int X86_64 = 62;
    private static final int HEADER_BYTES = 64;
    private static final int SEGMENT_BYTES = 56;
    private static final int INTERPRETER = 3;
    private static final int MOST_PATH_BYTES = 4096;

    private final ProgramCalls system;
    private final Starter starter;

    /// The user that starts the program. The kernel lets the dynamic linker load libraries of the environment only if the user gains no
    /// rights by the start.
    public record Starter(int uid, int gid, boolean gainsNoRights) {
        public static Starter current() {
            String status;
            try {
                status = Files.readString(Path.of("/proc/self/status"), StandardCharsets.ISO_8859_1);
            } catch (IOException e) {
                return new Starter(0, 0, false);
            }
            return new Starter(number(status, "\nUid:\t"), number(status, "\nGid:\t"), number(status, "\nNoNewPrivs:\t") == 1);
        }

        private static int number(String status, String key) {
            int from = status.indexOf(key) + key.length();
            int to = from;
            while (to < status.length() && Character.isDigit(status.charAt(to))) {
                to++;
            }
            return to == from || from < key.length() ? 0 : Integer.parseUnsignedInt(status, from, to, 10);
        }
    }

    public PreloadCheck(ProgramCalls system, Starter starter) {
        this.system = system;
        this.starter = starter;
    }

    /// The obstacle, as the end of a sentence: `is statically linked`.
    public Optional<String> obstacle(byte[] program) {
        return obstacle(program, MOST_INTERPRETERS);
    }

    private Optional<String> obstacle(byte[] program, int depth) {
        int descriptor = system.open(program);
        if (descriptor < 0 || depth == 0) {
            return Optional.empty();
        }
        try {
            return obstacle(program, Path.of("/proc/self/fd", Integer.toString(descriptor)), depth);
        } catch (IOException e) {
            return Optional.empty();
        } finally {
            system.close(descriptor);
        }
    }

    private Optional<String> obstacle(byte[] program, Path file, int depth) throws IOException {
        if (!Files.isRegularFile(file)) {
            return Optional.empty();
        }
        try (FileChannel content = FileChannel.open(file)) {
            ByteBuffer start = read(content, 0, FIRST_LINE_BYTES);
            if (start.remaining() >= Integer.BYTES && start.getInt(0) == ELF_MAGIC) {
                return rights(program, file).or(() -> linkage(program, content, start));
            }
            String interpreter = interpreter(start);
            return obstacle(interpreter.getBytes(StandardCharsets.ISO_8859_1), depth - 1).map(what -> "is a script of " + interpreter + ", which " + what);
        }
    }

    /// The kernel disables LD_PRELOAD for a program that gains rights by its start: AT_SECURE in `man getauxval`.
    private Optional<String> rights(byte[] program, Path file) throws IOException {
        Map<String, Object> attributes = Files.readAttributes(file, "unix:mode,uid,gid");
        int mode = (Integer) attributes.get("mode");
        boolean setuid = (mode & SETUID) != 0 && (Integer) attributes.get("uid") != starter.uid();
        boolean setgid = (mode & (SETGID | GROUP_EXECUTES)) == (SETGID | GROUP_EXECUTES) && (Integer) attributes.get("gid") != starter.gid();
        boolean capable = starter.uid() != 0 && system.hasAttribute(program, CAPABILITIES);
        if (!setuid && !setgid && !capable || starter.gainsNoRights() || system.isOnNosuid(program)) {
            return Optional.empty();
        }
        return Optional.of(setuid ? "is setuid" : setgid ? "is setgid" : "has file capabilities");
    }

    private static Optional<String> linkage(byte[] program, FileChannel content, ByteBuffer header) {
        if (header.remaining() < HEADER_BYTES || header.get(4) != ELF_64_BIT || header.getShort(18) != X86_64) {
            return Optional.of("is no x86-64 program");
        }
        try {
            String linker = dynamicLinker(content, header);
            String name = linker.substring(linker.lastIndexOf('/') + 1);
            if (linker.isEmpty()) {
                String own = RawProcess.text(program);
                return isGlibc(own.substring(own.lastIndexOf('/') + 1)) ? Optional.empty() : Optional.of("is statically linked");
            }
            return isGlibc(name) ? Optional.empty() : Optional.of("is linked for another C library than glibc (" + name + ")");
        } catch (IOException e) {
            return Optional.empty();
        }
    }

    private static boolean isGlibc(String linker) {
        return linker.startsWith("ld-linux") || linker.startsWith("ld-2.") || linker.startsWith("ld-lsb") || linker.startsWith("ld.so");
    }

    /// Empty when the program names none.
    private static String dynamicLinker(FileChannel content, ByteBuffer header) throws IOException {
        long table = header.getLong(32);
        int size = Short.toUnsignedInt(header.getShort(54));
        int count = Short.toUnsignedInt(header.getShort(56));
        for (int at = 0; at < count && size >= SEGMENT_BYTES; at++) {
            ByteBuffer segment = read(content, table + (long) at * size, SEGMENT_BYTES);
            if (segment.remaining() == SEGMENT_BYTES && segment.getInt(0) == INTERPRETER) {
                ByteBuffer path = read(content, segment.getLong(8), (int) Math.clamp(segment.getLong(32), 0L, MOST_PATH_BYTES));
                return StandardCharsets.ISO_8859_1.decode(path).toString().split("\0", 2)[0];
            }
        }
        return "";
    }

    private static ByteBuffer read(FileChannel content, long from, int bytes) throws IOException {
        ByteBuffer read = ByteBuffer.allocate(bytes).order(ByteOrder.LITTLE_ENDIAN);
        while (from >= 0 && read.hasRemaining() && content.read(read, from + read.position()) > 0) {
            continue;
        }
        return read.flip();
    }

    /// A script without an interpreter in its first line is run by the shell.
    private static String interpreter(ByteBuffer start) {
        String line = StandardCharsets.ISO_8859_1.decode(start.duplicate()).toString().split("\n", 2)[0];
        String named = line.startsWith("#!") ? line.substring(2).strip().split("[ \t]", 2)[0] : "";
        return named.isEmpty() ? Exec.SHELL : named;
    }
}
