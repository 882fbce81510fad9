package sluice.cli.top;

import java.time.Instant;
import java.util.List;
import org.jline.utils.AttributedString;
import org.jline.utils.AttributedStyle;
import sluice.cli.output.Table;
import sluice.cli.output.Text;
import sluice.cli.tables.PauseText;
import sluice.cli.tables.PsTable;
import sluice.cli.tables.ShareText;
import sluice.cli.top.terminal.TopStyle;
import sluice.region.TenantGpu;
import sluice.region.limits.Percent;
import sluice.region.limits.Size;

/// A column of the table. Widths are fixed, so that changing figures do not move other columns.
///
/// @param width the least; [#TENANT], [#ASKED] and [#COMMAND] take more where they need it and there is room
enum TopColumn {
    TENANT(6, false),
    GPU(3, true),
    PROCS(5, true),
    USED(9, true),
    FILL(10, false),
    LIMIT(9, true),
    PEAK(9, true),
    GOT(6, true),
    ASKED(5, false),
    TREND(20, false),
    WAIT(5, true),
    CALLS(8, true),
    DEBT(7, true),
    REFUSED(7, true),
    ERRORS(6, true),
    AGE(4, true),
    COMMAND(12, false);

    /// In the reverse order in which columns are left out.
    static final List<TopColumn> BY_WORTH = List.of(TENANT, USED, GOT, LIMIT, ASKED, GPU, WAIT, ERRORS, FILL, TREND, COMMAND,
            PROCS, REFUSED, AGE, PEAK, DEBT, CALLS);
    private static final String SPARKS = " ▁▂▃▄▅▆▇█";

    private final int width;
    private final boolean right;

    TopColumn(int width, boolean right) {
        this.width = width;
        this.right = right;
    }

    int width() {
        return width;
    }

    boolean right() {
        return right;
    }

    String title() {
        return this == CALLS ? "CALLS/S" : this == FILL ? "OF LIMIT" : name();
    }

    AttributedString cell(TopRow row, TopStyle style, Instant now) {
        return switch (this) {
            case TENANT -> text(PauseText.name(row.tenant(), now));
            case GPU -> row.gpu().map(gpu -> text(Integer.toString(gpu.index()))).orElse(nothing(style));
            case PROCS -> text(Integer.toString(Math.max(1, row.tenant().liveProcesses().size())));
            case USED -> row.gpu().isEmpty() ? nothing(style) : new AttributedString(Size.format(row.usedBytes()), used(row, style));
            case FILL -> fill(row, style);
            case LIMIT -> row.limitBytes() == 0 ? nothing(style) : text(Size.format(row.limitBytes()));
            case PEAK -> row.gpu().map(gpu -> text(Size.format(gpu.peakBytes()))).orElse(nothing(style));
            case GOT -> row.gotPermille() < 0 ? nothing(style) : text(ShareText.got(row.gotPermille()));
            case ASKED -> asked(row, style);
            case TREND -> trend(row, style);
            case WAIT -> row.waitPermille() <= 0 ? nothing(style) : text(Percent.format((row.waitPermille() + 5) / 10 * 10));
            case CALLS -> row.callsPerSecond() < 0 ? nothing(style) : text(Long.toString(row.callsPerSecond()));
            case DEBT -> row.gpu().map(gpu -> ShareText.debt(row.tenant(), gpu.time())).filter(debt -> !debt.equals(Table.NOTHING))
                    .map(debt -> new AttributedString(debt, style.yellow())).orElse(nothing(style));
            case REFUSED -> count(row.refusedCalls(), style);
            case ERRORS -> count(row.errors(), style);
            case AGE -> text(PsTable.age(row.tenant().createdNanos(), now));
            case COMMAND -> new AttributedString(Text.visible(row.tenant().command()), style.dim());
        };
    }

    private static AttributedString text(String text) {
        return new AttributedString(text);
    }

    private static AttributedString nothing(TopStyle style) {
        return new AttributedString(Table.NOTHING, style.dim());
    }

    private static AttributedStyle used(TopRow row, TopStyle style) {
        return row.limitBytes() != 0 && row.usedBytes() > row.limitBytes() / 10 * 9 ? style.yellow() : TopStyle.PLAIN;
    }

    private static AttributedString count(long count, TopStyle style) {
        return count == 0 ? nothing(style) : new AttributedString(Long.toString(count), style.red());
    }

    private static AttributedString asked(TopRow row, TopStyle style) {
        int cap = row.gpu().map(TenantGpu::time).map(time -> time.capPermille()).orElse(row.tenant().compute().caps().permille(0));
        String asked = ShareText.asked(row.tenant().compute(), cap);
        return asked.equals(Table.NOTHING) ? nothing(style) : text(asked);
    }

    private static AttributedString fill(TopRow row, TopStyle style) {
        return row.limitBytes() == 0 ? nothing(style)
                : TopBar.of(List.of(new TopBar.Part("", row.usedBytes(), row.colour())), row.limitBytes(), FILL.width, style);
    }

    private static AttributedString trend(TopRow row, TopStyle style) {
        List<Integer> last = row.trend().subList(Math.max(0, row.trend().size() - TREND.width), row.trend().size());
        if (!style.unicode() || last.stream().allMatch(got -> got < 0)) {
            return nothing(style);
        }
        StringBuilder line = new StringBuilder(" ".repeat(TREND.width - last.size()));
        last.forEach(got -> line.append(SPARKS.charAt(got <= 0 ? 0 : Math.clamp((got * 8 + 999) / 1000, 1, 8))));
        return new AttributedString(line, style.tenant(row.colour()));
    }
}
