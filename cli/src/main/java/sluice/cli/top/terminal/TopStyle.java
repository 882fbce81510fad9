package sluice.cli.top.terminal;

import org.jline.utils.AttributedString;
import org.jline.utils.AttributedStringBuilder;
import org.jline.utils.AttributedStyle;

/// The abilities of the terminal. Without colours a tenant has a letter; without Unicode, it uses characters that every terminal has.
public record TopStyle(boolean coloured, boolean unicode) {
    public static final AttributedStyle PLAIN = AttributedStyle.DEFAULT;
    public static final AttributedStyle BOLD = AttributedStyle.BOLD;
    /// The colour of parts that belong to no tenant.
    public static final int OTHER = -1;

    /// From the 256 colours that all terminals share: distinct also for readers with red-green colour blindness, and mild on black and
    /// white.
    private static final int[] TENANTS = {74, 179, 108, 139, 173, 73, 146, 143, 175, 67, 180, 109};
    private static final int OTHER_COLOUR = 245;
    private static final int DIM_COLOUR = 244;
    private static final int TRACK_COLOUR = 240;
    private static final int ON_COLOUR = 16;
    private static final int YELLOW = 178;
    private static final int RED = 167;
    private static final int GREEN = 71;
    private static final char OTHER_LETTER = '+';

    private static int colour(int tenant) {
        return tenant == OTHER ? OTHER_COLOUR : TENANTS[tenant % TENANTS.length];
    }

    public AttributedStyle tenant(int tenant) {
        return coloured ? PLAIN.foreground(colour(tenant)) : PLAIN;
    }

    /// Text on a tenant's colour.
    public AttributedStyle onTenant(int tenant) {
        return coloured ? PLAIN.foreground(ON_COLOUR).background(colour(tenant)) : PLAIN;
    }

    /// A cell that two parts of a bar share.
    public AttributedStyle between(int left, int right) {
        return PLAIN.foreground(colour(left)).background(colour(right));
    }

    public AttributedStyle dim() {
        return coloured ? PLAIN.foreground(DIM_COLOUR) : PLAIN;
    }

    public AttributedStyle track() {
        return coloured ? PLAIN.foreground(TRACK_COLOUR) : PLAIN;
    }

    public AttributedStyle yellow() {
        return coloured ? PLAIN.foreground(YELLOW) : BOLD;
    }

    public AttributedStyle red() {
        return coloured ? PLAIN.foreground(RED) : BOLD;
    }

    AttributedStyle green() {
        return coloured ? PLAIN.foreground(GREEN) : PLAIN;
    }

    public static char letter(int tenant) {
        return tenant == OTHER ? OTHER_LETTER : (char) ('a' + tenant % 26);
    }

    /// The mark before a tenant's name, which its parts of the bars have, too.
    public AttributedString mark(int tenant) {
        return new AttributedString(coloured && unicode ? "■" : Character.toString(letter(tenant)), tenant(tenant));
    }

    public String pick(String unicodeText, String asciiText) {
        return unicode ? unicodeText : asciiText;
    }

    /// The text in so many columns, cut where it is longer.
    public AttributedString cut(AttributedString text, int width) {
        if (columns(text) <= width) {
            return text;
        }
        AttributedStringBuilder cut = new AttributedStringBuilder();
        if (width > 1) {
            cut.append(text.columnSubSequence(0, width - 1)).append(new AttributedString(pick("…", "~"), dim()));
        }
        return cut.toAttributedString();
    }

    public AttributedString cut(String text, int width, AttributedStyle style) {
        return cut(new AttributedString(text, style), width);
    }

    /// The text in exactly so many columns.
    public AttributedString fit(AttributedString text, int width, boolean right) {
        AttributedString cut = cut(text, width);
        AttributedString padding = new AttributedString(" ".repeat(Math.max(0, width - columns(cut))));
        return AttributedStringBuilder.append(right ? padding : cut, right ? cut : padding);
    }

    /// The width of a text. JLine looks for grapheme clusters, which takes most of the time of a page; most cells have none.
    public static int columns(AttributedString text) {
        for (int at = 0; at < text.length(); at++) {
            if (text.charAt(at) < ' ' || text.charAt(at) > '~') {
                return text.columnLength();
            }
        }
        return text.length();
    }

    /// A line with text at both ends. If there is no room, the right text is cut.
    public AttributedString ends(AttributedString left, AttributedString right, int width) {
        int room = width - left.columnLength() - right.columnLength();
        return room < 1 ? cut(left, width) : AttributedStringBuilder.append(left, " ".repeat(room), right);
    }
}
