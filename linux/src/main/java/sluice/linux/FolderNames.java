package sluice.linux;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;

/// Lists the names in a folder by the system call itself. A hostile user can make thousands of names, and Java's own listing takes ten times as long.
final class FolderNames {
    private static final int BYTES = 32 * 1024;
    /// Of `struct linux_dirent64`.
    private static final int RECORD_BYTES = 16;
    private static final int NAME = 19;

    private final Descriptor folder;
    private final byte[] name = new byte[256];

    /// @param folder open for reading, at its first entry
    FolderNames(Descriptor folder) {
        this.folder = folder;
    }

    List<String> list(Predicate<String> wanted, int mostNames, int mostEntries) throws IOException {
        List<String> names = new ArrayList<>();
        int seen = 0;
        try (Arena arena = Arena.ofConfined()) {
            ByteBuffer entries = SystemCalls.memory(BYTES, arena);
            while (true) {
                int bytes = (int) SystemCalls.checked("folder", SystemCall.GETDENTS64, folder.number(), SystemCalls.address(entries), BYTES);
                if (bytes == 0) {
                    return names;
                }
                for (int at = 0; at < bytes; at += Short.toUnsignedInt(entries.getShort(at + RECORD_BYTES))) {
                    String entry = name(entries, at + NAME);
                    if (entry.equals(".") || entry.equals("..")) {
                        continue;
                    }
                    if (wanted.test(entry)) {
                        names.add(entry);
                    }
                    if (++seen == mostEntries || names.size() == mostNames) {
                        return names;
                    }
                }
            }
        }
    }

    private String name(ByteBuffer entries, int from) {
        int length = 0;
        for (byte each = entries.get(from); each != 0; each = entries.get(from + length)) {
            name[length++] = each;
        }
        return new String(name, 0, length, StandardCharsets.UTF_8);
    }
}
