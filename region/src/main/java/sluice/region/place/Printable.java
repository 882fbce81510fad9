package sluice.region.place;

/// Text that a tenant wrote, made safe for the terminal of another user: an escape sequence in a name could rewrite the screen, or type
/// commands.
public final class Printable {
    private static final char REPLACEMENT = '\uFFFD';

    private Printable() {}

    /// Control and format characters are replaced; all others stay.
    public static String of(String text) {
        for (int at = 0; at < text.length(); at++) {
            if (!isPrintable(text.charAt(at))) {
                return replaced(text);
            }
        }
        return text;
    }

    private static String replaced(String text) {
        StringBuilder safe = new StringBuilder(text.length());
        for (int at = 0; at < text.length(); at++) {
            safe.append(isPrintable(text.charAt(at)) ? text.charAt(at) : REPLACEMENT);
        }
        return safe.toString();
    }

    private static boolean isPrintable(char character) {
        if (character >= ' ' && character < 0x7f) {
            return true;
        }
        int type = Character.getType(character);
        return type != Character.CONTROL && type != Character.FORMAT && type != Character.LINE_SEPARATOR && type != Character.PARAGRAPH_SEPARATOR;
    }
}
