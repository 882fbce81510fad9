package sluice.cli.top.terminal;

import java.io.FileDescriptor;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;

/// Letters from the terminal, in UTF-8. JLine's own reader does not fit: while it waits for a key, the terminal cannot be closed. It also
/// takes the next key from the shell (seen with 4.4.8).
public final class TopInput implements TopKey.Letters {
    private static final long STEP_MILLIS = 5;

    private final InputStream in;

    public TopInput(InputStream in) {
        this.in = in;
    }

    static TopInput standard() {
        return new TopInput(new FileInputStream(FileDescriptor.in));
    }

    @Override
    public int read(long millis) throws IOException {
        long waited = 0;
        while (millis > 0 && in.available() == 0) {
            if (waited >= millis) {
                return TOO_LATE;
            }
            pause();
            waited += STEP_MILLIS;
        }
        int first = in.read();
        int more = first < 0xc0 ? 0 : first < 0xe0 ? 1 : first < 0xf0 ? 2 : 3;
        int letter = more == 0 ? first : first & 0x3f >> more;
        for (int at = 0; at < more; at++) {
            letter = letter << 6 | in.read() & 0x3f;
        }
        return Character.isValidCodePoint(letter) || letter < 0 ? letter : Character.MAX_CODE_POINT;
    }

    private static void pause() {
        try {
            Thread.sleep(STEP_MILLIS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
