package sluice.cli.top;

import java.time.Instant;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import org.jline.utils.AttributedString;
import org.jline.utils.AttributedStringBuilder;
import org.jline.utils.AttributedStyle;
import sluice.cli.top.terminal.TopStyle;

/// The tenants, one line each, with the columns that the width has room for.
final class TopTable {
    private static final int MARKS = 4;
    private static final int GAP = 2;
    private static final int WIDEST_TENANT = 20;
    private static final int WIDEST_ASKED = 16;

    private final TopStyle style;
    private final TopState state;
    private final Instant now;
    private final List<TopRow> rows;
    private final Map<TopColumn, Integer> widths = new EnumMap<>(TopColumn.class);

    /// @param trends whether there were enough looks to show a trend
    TopTable(TopLook look, TopState state, TopStyle style, int width, boolean trends) {
        this.style = style;
        this.state = state;
        now = look.at();
        rows = state.rows(look);
        int left = width - MARKS + GAP;
        for (TopColumn column : TopColumn.BY_WORTH) {
            int wanted = switch (column) {
                case TENANT -> Math.min(WIDEST_TENANT, Math.max(left - GAP, 0));
                case ASKED -> WIDEST_ASKED;
                default -> column.width();
            };
            int needed = Math.min(wanted, Math.max(column.width(), content(column)));
            if ((trends || column != TopColumn.TREND) && worth(column, look) && needed + GAP <= left) {
                widths.put(column, needed);
                left -= needed + GAP;
            }
        }
        if (widths.containsKey(TopColumn.COMMAND)) {
            widths.merge(TopColumn.COMMAND, left, Integer::sum);
        }
    }

    private int content(TopColumn column) {
        return column == TopColumn.TENANT || column == TopColumn.ASKED
                ? rows.stream().mapToInt(row -> TopStyle.columns(column.cell(row, style, now))).max().orElse(0) : 0;
    }

    private boolean worth(TopColumn column, TopLook look) {
        return switch (column) {
            case GPU -> look.gpus().size() > 1;
            case FILL -> rows.stream().anyMatch(row -> row.limitBytes() != 0);
            case GOT, WAIT, CALLS -> rows.stream().anyMatch(row -> row.gotPermille() >= 0);
            case TREND -> style.unicode() && rows.stream().anyMatch(row -> row.gotPermille() >= 0);
            default -> true;
        };
    }

    List<TopRow> rows() {
        return rows;
    }

    AttributedString header() {
        AttributedStringBuilder line = new AttributedStringBuilder();
        line.append(" ".repeat(MARKS));
        widths.forEach((column, width) -> {
            gap(line);
            boolean sorted = column.name().equals(state.sort().column());
            String arrow = sorted ? style.pick(state.reversed() ? "▴" : "▾", state.reversed() ? "^" : "v") : "";
            AttributedStyle look = sorted ? TopStyle.BOLD : style.dim();
            line.append(style.fit(new AttributedString(heading(column, arrow, width), look), width, column.right()));
        });
        return line.toAttributedString();
    }

    /// Without free space, the arrow replaces the last letter.
    private static String heading(TopColumn column, String arrow, int width) {
        String title = column.title();
        return title.length() + arrow.length() <= width ? title + arrow : title.substring(0, Math.max(0, width - arrow.length())) + arrow;
    }

    /// Some of the lines.
    List<AttributedString> lines(int from, int count, boolean selecting) {
        List<AttributedString> lines = new ArrayList<>();
        int selected = state.position(rows);
        for (int at = from; at < Math.min(rows.size(), from + count); at++) {
            lines.add(line(rows.get(at), selecting && at == selected));
        }
        return lines;
    }

    private AttributedString line(TopRow row, boolean selected) {
        AttributedStringBuilder line = new AttributedStringBuilder();
        line.append(selected ? style.pick("›", ">") : " ", TopStyle.BOLD).append(" ").append(style.mark(row.colour())).append(" ");
        widths.forEach((column, width) -> {
            gap(line);
            AttributedString cell = column.cell(row, style, now);
            AttributedString shown = selected && column == TopColumn.TENANT ? new AttributedString(cell.toString(), TopStyle.BOLD) : cell;
            line.append(style.fit(shown, width, column.right()));
        });
        return line.toAttributedString();
    }

    private static void gap(AttributedStringBuilder line) {
        if (line.length() > MARKS) {
            line.append(" ".repeat(GAP));
        }
    }
}
