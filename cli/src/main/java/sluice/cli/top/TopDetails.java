package sluice.cli.top;

import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jline.utils.AttributedString;
import org.jline.utils.AttributedStringBuilder;
import org.jline.utils.AttributedStyle;
import sluice.api.model.OnBoards;
import sluice.cli.output.Table;
import sluice.cli.output.Text;
import sluice.cli.tables.PauseText;
import sluice.cli.tables.PsTable;
import sluice.cli.tables.ShareText;
import sluice.cli.top.terminal.TopStyle;
import sluice.region.GpuTime;
import sluice.region.Tenant;
import sluice.region.TenantError;
import sluice.region.TenantGpu;
import sluice.region.TenantProcess;
import sluice.region.boards.BoardTenant;
import sluice.region.limits.Size;

/// All facts about one tenant on one GPU, the most important first.
final class TopDetails {
    private static final int LABEL = 11;

    private final TopRow row;
    private final TopLook look;
    private final TopStyle style;
    private final int width;
    private final List<AttributedString> lines = new ArrayList<>();

    private TopDetails(TopRow row, TopLook look, TopStyle style, int width) {
        this.row = row;
        this.look = look;
        this.style = style;
        this.width = width;
    }

    static List<AttributedString> lines(TopRow row, TopLook look, TopStyle style, int width) {
        TopDetails details = new TopDetails(row, look, style, width);
        details.all();
        return details.lines;
    }

    private void all() {
        Tenant tenant = row.tenant();
        lines.add(heading());
        errors(tenant, look.at());
        row.gpu().ifPresent(gpu -> notes(tenant));
        PauseText.note(tenant, look.at()).ifPresent(note -> line("pause", note, style.yellow()));
        PauseText.memory(tenant).ifPresent(memory -> line("away", memory, TopStyle.PLAIN));
        line("limits", "memory " + tenant.memory() + ", over it " + tenant.limits().onOom() + "; compute " + tenant.compute().caps()
                + "; turns " + ShareText.turns(tenant.compute()), TopStyle.PLAIN);
        row.gpu().ifPresent(this::gpu);
        String label = "processes";
        for (TenantProcess process : tenant.liveProcesses()) {
            String bytes = row.gpu().map(gpu -> Size.format(process.chargedBytes(gpu.entry()))).orElse(Table.NOTHING);
            line(label, String.format("%-8d %9s  %s", process.identity().pid(), bytes, process.commandLine()), TopStyle.PLAIN);
            label = "";
        }
    }

    private AttributedString heading() {
        String rule = style.pick("╌", "-");
        AttributedStringBuilder heading = new AttributedStringBuilder();
        heading.append(rule + " ", style.track()).append(style.mark(row.colour())).append(" ");
        heading.append(row.name() + row.gpu().map(gpu -> " on GPU " + gpu.index()).orElse(""), TopStyle.BOLD).append(" ");
        heading.append(rule.repeat(Math.max(0, width - heading.columnLength())), style.track());
        return style.cut(heading.toAttributedString(), width);
    }

    private void errors(Tenant tenant, Instant now) {
        for (TenantError error : tenant.errors()) {
            line("error", error.count() + style.pick("× ", "x ") + error.text() + " (" + PsTable.age(error.lastNanos(), now) + " ago)", style.red());
        }
    }

    private void notes(Tenant tenant) {
        ShareText.notStrict(tenant).ifPresent(note -> line("note", note, style.yellow()));
        ShareText.notes(tenant, look.at()).forEach(note -> line("note", note, style.yellow()));
    }

    private void gpu(TenantGpu gpu) {
        List<String> uses = new ArrayList<>();
        for (Map.Entry<String, Long> use : gpu.uses().byName().entrySet()) {
            if (use.getValue() > 0) {
                uses.add(use.getKey() + " " + Size.format(use.getValue()));
            }
        }
        line("memory", (uses.isEmpty() ? "nothing" : String.join(", ", uses)) + "; peak " + Size.format(gpu.peakBytes())
                + (gpu.refusedCalls() == 0 ? "" : "; " + gpu.refusedCalls() + " refused"), TopStyle.PLAIN);
        GpuTime time = gpu.time();
        if (time.begun()) {
            line("time", Text.duration(time.usedNanos()) + " used, " + ShareText.got(time.gotPermille()) + " since it began; waited "
                    + Text.duration(time.turnWaitedNanos()) + " for turns, " + Text.duration(time.capWaitedNanos()) + " for its cap", TopStyle.PLAIN);
        }
        new OnBoards(look.boards()).of(row.tenant(), gpu).ifPresent(this::turns);
    }

    private void turns(BoardTenant entry) {
        line("turns", entry.turns() + " turns of " + Text.duration(entry.lengthNanos())
                + (entry.planNanos() == 0 ? "" : " by the agent's plan") + ", held " + Text.duration(entry.heldNanos()), TopStyle.PLAIN);
    }

    private void line(String label, String text, AttributedStyle look) {
        lines.add(style.cut(AttributedStringBuilder.append(style.fit(style.cut(" " + label, LABEL, style.dim()), LABEL, false),
                new AttributedString(Text.visible(text), look)), width));
    }
}
