package sluice.region.place;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

/// Facts about this process from the kernel: its user, and the signals that were blocked at its start.
///
/// `/proc/self/status` shows the first thread. The JVM runs `main` in another one, and changes only that one's mask.
public record ThisProcess(int uid, long blockedSignals) {
    private static final int EFFECTIVE = 1;

    public static ThisProcess current() {
        try {
            return parse(Files.readAllBytes(Path.of("/proc/self/status")));
        } catch (IOException e) {
            throw new SluiceException("cannot read /proc/self/status; mount /proc", e);
        }
    }

    static ThisProcess parse(byte[] status) {
        String text = new String(status, StandardCharsets.ISO_8859_1);
        return new ThisProcess(Integer.parseUnsignedInt(word(text, "\nUid:\t", EFFECTIVE)), Long.parseUnsignedLong(word(text, "\nSigBlk:\t", 0), 16));
    }

    private static String word(String text, String key, int number) {
        int from = text.indexOf(key) + key.length();
        for (int word = 0; word < number; word++) {
            from = text.indexOf('\t', from) + 1;
        }
        int to = from;
        while (to < text.length() && text.charAt(to) > ' ') {
            to++;
        }
        return text.substring(from, to);
    }
}
