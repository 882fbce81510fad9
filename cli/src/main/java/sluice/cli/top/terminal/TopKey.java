package sluice.cli.top.terminal;

import java.io.IOException;
import java.util.Optional;

/// A key that was pressed.
///
/// @param letter of [Kind#LETTER], else 0
public record TopKey(Kind kind, int letter) {
    public enum Kind {
        LETTER,
        UP,
        DOWN,
        PAGE_UP,
        PAGE_DOWN,
        HOME,
        END,
        ENTER,
        ESCAPE,
        BACKSPACE,
        CLEAR,
        INTERRUPT,
        SUSPEND,
        REDRAW,
        UNKNOWN
    }

    private static final int ESCAPE = 27;
    private static final long SEQUENCE_MILLIS = 50;

    /// The source of letters.
    interface Letters {
        int END = -1;
        int TOO_LATE = -2;

        /// Waits for a letter, for ever if the time is 0.
        int read(long millis) throws IOException;
    }

    public static TopKey of(Kind kind) {
        return new TopKey(kind, 0);
    }

    public static TopKey letter(int letter) {
        return new TopKey(Kind.LETTER, letter);
    }

    /// Reads a key; empty at the end.
    public static Optional<TopKey> read(Letters letters) throws IOException {
        int first = letters.read(0);
        return first < 0 ? Optional.empty() : Optional.of(beginningWith(first, letters));
    }

    private static TopKey beginningWith(int first, Letters letters) throws IOException {
        return switch (first) {
            case ESCAPE -> sequence(letters);
            case '\r', '\n' -> of(Kind.ENTER);
            case 8, 127 -> of(Kind.BACKSPACE);
            case 3, 4 -> of(Kind.INTERRUPT);
            case 12 -> of(Kind.REDRAW);
            case 14 -> of(Kind.DOWN);
            case 16 -> of(Kind.UP);
            case 21 -> of(Kind.CLEAR);
            case 26 -> of(Kind.SUSPEND);
            default -> Character.isISOControl(first) ? of(Kind.UNKNOWN) : letter(first);
        };
    }

    /// `ESC [ A`, `ESC O A`, `ESC [ 5 ~`, `ESC [ 1 ; 5 A`; Esc alone when nothing follows at once.
    private static TopKey sequence(Letters letters) throws IOException {
        int next = letters.read(SEQUENCE_MILLIS);
        if (next != '[' && next != 'O') {
            return of(next < 0 ? Kind.ESCAPE : Kind.UNKNOWN);
        }
        int number = 0;
        int last = letters.read(SEQUENCE_MILLIS);
        while (last >= ' ' && last < '@') {
            number = last >= '0' && last <= '9' ? Math.min(number * 10 + last - '0', 9999) : number;
            last = letters.read(SEQUENCE_MILLIS);
        }
        return of(switch (last) {
            case 'A' -> Kind.UP;
            case 'B' -> Kind.DOWN;
            case 'H' -> Kind.HOME;
            case 'F' -> Kind.END;
            case '~' -> numbered(number);
            default -> Kind.UNKNOWN;
        });
    }

    private static Kind numbered(int number) {
        return switch (number) {
            case 1, 7 -> Kind.HOME;
            case 4, 8 -> Kind.END;
            case 5 -> Kind.PAGE_UP;
            case 6 -> Kind.PAGE_DOWN;
            default -> Kind.UNKNOWN;
        };
    }
}
