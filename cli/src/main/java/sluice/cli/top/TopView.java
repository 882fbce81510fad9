package sluice.cli.top;

import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.List;
import org.jline.utils.AttributedString;
import org.jline.utils.AttributedStringBuilder;
import sluice.cli.top.terminal.TopStyle;
import sluice.region.Tenant;

/// All lines of the screen, from the look, the choices of the user, and the size. No line is wider than the size, and there are no more
/// lines.
final class TopView {
    private static final DateTimeFormatter CLOCK = DateTimeFormatter.ofPattern("HH:mm:ss");
    private static final int LEAST_ROWS = 3;
    private static final int LEAST_DETAILS = 4;
    private static final int LEAST_WIDTH = 20;
    private static final int LEAST_HEIGHT = 4;

    private final TopLook look;
    private final TopState state;
    private final TopStyle style;
    private final int width;
    private final int height;
    private final List<AttributedString> lines = new ArrayList<>();

    private TopView(TopLook look, TopState state, TopStyle style, int width, int height) {
        this.look = look;
        this.state = state;
        this.style = style;
        this.width = width;
        this.height = height;
    }

    /// A whole screen.
    static List<AttributedString> screen(TopLook look, TopState state, TopStyle style, int width, int height) {
        if (width < LEAST_WIDTH || height < LEAST_HEIGHT) {
            return List.of(style.cut("too small", Math.max(0, width), TopStyle.PLAIN));
        }
        return new TopView(look, state, style, width, height).screen();
    }

    /// A page for a single look: every GPU and every tenant.
    static List<AttributedString> page(TopLook look, TopStyle style, int width) {
        TopView view = new TopView(look, TopState.FIRST, style, Math.max(LEAST_WIDTH, width), Integer.MAX_VALUE);
        view.lines.add(view.title());
        view.gpus(true);
        view.lines.add(AttributedString.EMPTY);
        TopTable table = new TopTable(look, TopState.FIRST, style, view.width, false);
        view.table(table, 0, table.rows().size(), false);
        return view.lines;
    }

    private List<AttributedString> screen() {
        lines.add(title());
        List<AttributedString> foot = TopFoot.lines(look, state, style, width);
        int room = height - foot.size();
        if (state.mode() instanceof TopMode.Helping) {
            lines.addAll(TopHelp.lines(style, width));
        } else {
            body(room);
        }
        while (lines.size() < room) {
            lines.add(AttributedString.EMPTY);
        }
        return joined(lines.subList(0, Math.max(0, room)), foot);
    }

    private List<AttributedString> joined(List<AttributedString> upper, List<AttributedString> foot) {
        List<AttributedString> all = new ArrayList<>(upper);
        all.addAll(foot);
        return all.subList(0, Math.min(all.size(), height));
    }

    private void body(int room) {
        boolean spacious = room >= 3 + 4 * state.gpus(look).size() + LEAST_ROWS * 2;
        int spare = room - LEAST_ROWS - 2 - lines.size();
        int before = lines.size();
        gpus(spacious);
        if (lines.size() - before > spare) {
            lines.subList(before + Math.max(0, spare), lines.size()).clear();
        }
        if (room - lines.size() > LEAST_ROWS + 2) {
            lines.add(AttributedString.EMPTY);
        }
        TopTable table = new TopTable(look, state, style, width, true);
        List<AttributedString> details = details(table.rows());
        int rest = room - lines.size() - 1;
        int needed = switch (state.details()) {
            case NEVER -> 0;
            case IF_ROOM -> rest - table.rows().size() - 1 < LEAST_DETAILS ? 0 : Math.min(details.size() + 1, rest - table.rows().size());
            case ALWAYS -> Math.min(details.size() + 1, Math.max(0, rest - Math.min(table.rows().size(), LEAST_ROWS)));
        };
        int shown = details.isEmpty() || needed < 2 ? 0 : needed;
        int count = Math.min(table.rows().size(), Math.max(0, rest - shown));
        table(table, first(table.rows(), count), count, true);
        if (shown > 0) {
            lines.add(AttributedString.EMPTY);
            lines.addAll(details.subList(0, Math.min(details.size(), shown - 1)));
        }
    }

    /// The first row that is shown, so that the selected one is among them.
    private int first(List<TopRow> rows, int count) {
        return Math.clamp(state.position(rows) - count / 2, 0, Math.max(0, rows.size() - count));
    }

    private List<AttributedString> details(List<TopRow> rows) {
        return rows.isEmpty() ? List.of() : TopDetails.lines(rows.get(state.position(rows)), look, style, width);
    }

    private AttributedString title() {
        List<Tenant> tenants = look.tenants();
        long processes = tenants.stream().mapToLong(tenant -> Math.max(1, tenant.liveProcesses().size())).sum();
        String dot = style.pick(" · ", ", ");
        String counts = count(look.gpus().size(), "GPU") + dot + count(tenants.size(), "tenant") + dot + processes
                + (processes == 1 ? " process" : " processes");
        AttributedString left = AttributedStringBuilder.append(new AttributedString(" sluice top", TopStyle.BOLD), new AttributedString("   " + counts, style.dim()));
        String clock = CLOCK.format(look.at().atZone(ZoneId.systemDefault())) + " ";
        return style.ends(style.cut(left, width), new AttributedString(state.held() ? "held " + clock : clock, state.held() ? style.yellow() : style.dim()), width);
    }

    private static String count(int number, String what) {
        return number + " " + what + (number == 1 ? "" : "s");
    }

    private void gpus(boolean spacious) {
        TopGpuLines gpus = new TopGpuLines(look, style, width);
        List<TopGpu> shown = state.gpus(look);
        if (spacious) {
            for (TopGpu gpu : shown) {
                lines.add(AttributedString.EMPTY);
                lines.addAll(gpus.full(List.of(gpu)));
            }
        } else if (!shown.isEmpty()) {
            lines.addAll(shown.size() == 1 ? gpus.full(shown) : gpus.compact(shown));
        }
    }

    private void table(TopTable table, int from, int count, boolean selecting) {
        if (table.rows().isEmpty()) {
            String why = look.rows().isEmpty() ? "No tenants are running; 'sluice run --memory 4g -- PROGRAM' starts one." : "No tenant matches.";
            lines.add(style.cut(" " + why, width, style.dim()));
            return;
        }
        lines.add(table.header());
        lines.addAll(table.lines(from, count, selecting));
    }
}
