package sluice.cli.top;

import java.util.Arrays;
import java.util.List;
import org.jline.utils.AttributedString;
import org.jline.utils.AttributedStringBuilder;
import sluice.cli.top.terminal.TopStyle;

/// A bar whose parts have the colours of their tenants, exact to an eighth of a column, with names where they have room.
final class TopBar {
    private static final String EIGHTHS = " ▏▎▍▌▋▊▉";
    private static final int FINE = 8;
    private static final int FREE = -2;

    /// @param colour number of a tenant's colour, or [TopStyle#OTHER]
    record Part(String label, long amount, int colour) {}

    private final List<Part> parts;
    private final TopStyle style;
    private final int width;
    /// Which part each eighth of a column belongs to.
    private final int[] owners;

    private TopBar(List<Part> parts, long whole, int width, TopStyle style) {
        this.parts = parts;
        this.style = style;
        this.width = width;
        owners = new int[width * FINE];
        Arrays.fill(owners, FREE);
        double sum = 0;
        int from = 0;
        for (int part = 0; part < parts.size() && whole > 0; part++) {
            sum += Math.max(0, parts.get(part).amount());
            int end = (int) Math.min(owners.length, Math.round(sum / whole * owners.length));
            Arrays.fill(owners, from, Math.max(from, end), part);
            from = Math.max(from, end);
        }
    }

    static AttributedString of(List<Part> parts, long whole, int width, TopStyle style) {
        return new TopBar(parts, whole, Math.max(0, width), style).draw();
    }

    private AttributedString draw() {
        AttributedStringBuilder line = new AttributedStringBuilder();
        int cell = 0;
        while (cell < width) {
            int owner = owners[cell * FINE];
            int full = fullCells(cell, owner);
            if (full == 0) {
                mixed(line, cell);
                cell++;
            } else {
                run(line, owner, full);
                cell += full;
            }
        }
        return line.toAttributedString();
    }

    private int fullCells(int cell, int owner) {
        int end = cell * FINE;
        while (end < owners.length && owners[end] == owner) {
            end++;
        }
        return end / FINE - cell;
    }

    private void run(AttributedStringBuilder line, int owner, int cells) {
        if (owner == FREE) {
            line.append(style.pick("░", ".").repeat(cells), style.track());
            return;
        }
        Part part = parts.get(owner);
        String fill = style.coloured() ? " " : Character.toString(TopStyle.letter(part.colour()));
        String label = label(part.label(), style.coloured() ? " " : fill + " ", cells);
        line.append(label + fill.repeat(cells - columns(label)), style.onTenant(part.colour()));
    }

    /// The whole label, or its first word, or nothing.
    private static String label(String label, String before, int cells) {
        String padded = label.isEmpty() ? "" : before + label + " ";
        if (columns(padded) <= cells) {
            return padded;
        }
        int space = label.indexOf(' ');
        return space < 0 ? "" : label(label.substring(0, space), before, cells);
    }

    private static int columns(String text) {
        return new AttributedString(text).columnLength();
    }

    /// A cell of several parts shows its first and the largest of the others.
    private void mixed(AttributedStringBuilder line, int cell) {
        int[] eighths = Arrays.copyOfRange(owners, cell * FINE, (cell + 1) * FINE);
        int first = eighths[0];
        int count = (int) Arrays.stream(eighths).takeWhile(owner -> owner == first).count();
        int second = largest(Arrays.copyOfRange(eighths, count, FINE));
        if (!style.coloured() || !style.unicode()) {
            run(line, count * 2 >= FINE ? first : second, 1);
        } else if (second == FREE) {
            line.append(EIGHTHS.charAt(count) + "", style.tenant(parts.get(first).colour()));
        } else {
            line.append(EIGHTHS.charAt(count) + "", style.between(parts.get(first).colour(), parts.get(second).colour()));
        }
    }

    private static int largest(int[] owners) {
        int best = owners[0];
        for (int owner : owners) {
            best = count(owners, owner) > count(owners, best) ? owner : best;
        }
        return best;
    }

    private static long count(int[] owners, int owner) {
        return Arrays.stream(owners).filter(each -> each == owner).count();
    }
}
