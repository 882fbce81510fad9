package sluice.cli.top;

import java.util.ArrayList;
import java.util.List;
import org.jline.utils.AttributedString;
import org.jline.utils.AttributedStringBuilder;
import sluice.cli.output.Table;
import sluice.cli.output.Text;
import sluice.cli.tables.ShareText;
import sluice.cli.top.terminal.TopStyle;
import sluice.region.limits.Size;

/// GPUs: the memory and the GPU time of each tenant.
record TopGpuLines(TopLook look, TopStyle style, int width) {
    private static final int LABEL = 8;
    private static final int WIDE = 60;
    private static final int FIGURES = 23;
    private static final int PERCENT = 5;
    private static final int ALL_PERMILLE = 1000;

    /// A heading and two bars for each.
    List<AttributedString> full(List<TopGpu> gpus) {
        List<AttributedString> lines = new ArrayList<>();
        for (TopGpu gpu : gpus) {
            lines.add(heading(gpu));
            lines.add(line("memory", memory(gpu), gpu.totalBytes(), memoryFigures(gpu)));
            lines.add(line("time", time(gpu), timeWhole(gpu), timeFigures(gpu)));
        }
        return lines;
    }

    /// One line for each, below one heading.
    List<AttributedString> compact(List<TopGpu> gpus) {
        List<AttributedString> lines = new ArrayList<>();
        int left = (width - 1) / 2 - 4;
        AttributedString memory = style.fit(style.cut("memory", left, style.dim()), left, false);
        lines.add(style.cut(AttributedStringBuilder.append(style.fit(style.cut("GPU ", 4, style.dim()), 5, true), memory, new AttributedString("time", style.dim())), width));
        for (TopGpu gpu : gpus) {
            AttributedStringBuilder line = new AttributedStringBuilder();
            line.append(style.fit(new AttributedString(Integer.toString(gpu.index())), 4, true)).append(" ");
            line.append(TopBar.of(memory(gpu), gpu.totalBytes(), left - PERCENT - 2, style)).append(percent(gpu.usedBytes(), gpu.totalBytes())).append("  ");
            line.append(TopBar.of(time(gpu), timeWhole(gpu), width - line.columnLength() - PERCENT - 1, style)).append(measured(gpu) ? percent(busy(gpu), timeWhole(gpu)) : none());
            lines.add(style.cut(line.toAttributedString(), width));
        }
        return lines;
    }

    private AttributedString heading(TopGpu gpu) {
        AttributedString left = AttributedStringBuilder.append(
                new AttributedString(" GPU " + gpu.index(), TopStyle.BOLD),
                new AttributedString("  " + Text.visible(gpu.name()), style.dim()));
        return style.ends(style.cut(left, width), new AttributedString(sharing(gpu) + " ", style.dim()), width);
    }

    private String sharing(TopGpu gpu) {
        List<TopRow> rows = look.rowsOn(gpu.uuid());
        long unmeasured = rows.stream().filter(row -> row.gotPermille() < 0).count();
        String turns = gpu.turnsPerSecond() < 0 ? "" : gpu.turnsPerSecond() + " turns/s";
        String others = unmeasured == 0 ? "" : unmeasured + " of " + rows.size() + (rows.size() == 1 ? " tenant" : " tenants") + " not measured";
        return turns + (turns.isEmpty() || others.isEmpty() ? "" : style.pick(" · ", ", ")) + others;
    }

    private AttributedString line(String label, List<TopBar.Part> parts, long whole, AttributedString figures) {
        AttributedStringBuilder line = new AttributedStringBuilder();
        line.append(style.fit(style.cut(" " + label, LABEL, style.dim()), LABEL, false));
        line.append(TopBar.of(parts, whole, width - LABEL - figures.columnLength() - 1, style)).append(figures);
        return style.cut(line.toAttributedString(), width);
    }

    private List<TopBar.Part> memory(TopGpu gpu) {
        List<TopBar.Part> parts = new ArrayList<>();
        look.rowsOn(gpu.uuid()).forEach(row -> parts.add(new TopBar.Part(row.name() + " " + Size.format(row.usedBytes()), row.usedBytes(), row.colour())));
        if (gpu.otherBytes() != TopGpu.UNKNOWN) {
            parts.add(new TopBar.Part("other " + Size.format(gpu.otherBytes()), gpu.otherBytes(), TopStyle.OTHER));
        }
        return parts;
    }

    private List<TopBar.Part> time(TopGpu gpu) {
        return look.rowsOn(gpu.uuid()).stream().filter(row -> row.gotPermille() > 0)
                .map(row -> new TopBar.Part(row.name() + " " + ShareText.got(row.gotPermille()), row.gotPermille(), row.colour()))
                .toList();
    }

    /// Several regions are not read at the same moment, so the sum of their parts may be a little more than the whole.
    private long timeWhole(TopGpu gpu) {
        return Math.max(ALL_PERMILLE, busy(gpu));
    }

    private long busy(TopGpu gpu) {
        return time(gpu).stream().mapToLong(TopBar.Part::amount).sum();
    }

    private boolean measured(TopGpu gpu) {
        return look.rowsOn(gpu.uuid()).stream().anyMatch(row -> row.gotPermille() >= 0);
    }

    private AttributedString memoryFigures(TopGpu gpu) {
        String of = Size.format(gpu.usedBytes()) + " / " + (gpu.totalBytes() == 0 ? Table.NOTHING : Size.format(gpu.totalBytes()));
        return figures(of, percent(gpu.usedBytes(), gpu.totalBytes()));
    }

    private AttributedString timeFigures(TopGpu gpu) {
        return measured(gpu) ? figures("in use", percent(busy(gpu), timeWhole(gpu))) : figures("not measured", none());
    }

    private AttributedString figures(String words, AttributedString percent) {
        return width < WIDE ? percent
                : AttributedStringBuilder.append(style.fit(style.cut(words, FIGURES, style.dim()), FIGURES, true), percent);
    }

    private AttributedString percent(long part, long whole) {
        return whole == 0 ? none() : style.fit(new AttributedString(Math.round(100.0 * part / whole) + "%"), PERCENT, true);
    }

    private AttributedString none() {
        return style.fit(new AttributedString(Table.NOTHING, style.dim()), PERCENT, true);
    }
}
