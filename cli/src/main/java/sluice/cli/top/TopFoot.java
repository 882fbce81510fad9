package sluice.cli.top;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.jline.utils.AttributedString;
import org.jline.utils.AttributedStringBuilder;
import sluice.cli.output.Text;
import sluice.cli.tables.PauseText;
import sluice.cli.top.terminal.TopStyle;
import sluice.region.Tenant;
import sluice.region.limits.Limit;

/// The lowest lines: the meaning of the keys, or the present question.
record TopFoot(TopState state, TopStyle style, int width) {
    static List<AttributedString> lines(TopLook look, TopState state, TopStyle style, int width) {
        TopFoot foot = new TopFoot(state, style, width);
        List<AttributedString> lines = switch (state.mode()) {
            case TopMode.Watching() -> foot.watching(look);
            case TopMode.Helping() -> List.of(foot.keys("any key", "back"));
            case TopMode.Filtering filtering -> List.of(foot.asking("show tenants with ", state.filter()), foot.keys("Enter", "keep", "Esc", "as before"));
            case TopMode.Choosing(Tenant tenant) -> foot.choosing(tenant);
            case TopMode.Pausing(Tenant tenant) -> foot.pausing(tenant, look);
            case TopMode.Editing editing -> foot.editing(editing);
            case TopMode.Confirming confirming -> foot.confirming(confirming);
        };
        return lines.stream().map(line -> style.cut(line, width)).toList();
    }

    private List<AttributedString> watching(TopLook look) {
        String shown = state.rows(look).size() == look.rows().size() ? "" : state.rows(look).size() + " of " + look.rows().size();
        String filter = (state.filter().isEmpty() ? "filter" : "filter '" + Text.visible(state.filter()) + "'") + (shown.isEmpty() ? "" : " (" + shown + ")");
        AttributedString keys = keys("q", "quit", "h", "help", "s", "sort: " + state.sort().column().toLowerCase(Locale.ROOT), "r", "reverse", "/", filter, "l", "limits", "p", "pause", "Enter", "details",
                "g", "GPU", "space", state.held() ? "go on" : "hold");
        return state.message().isEmpty() ? List.of(keys)
                : List.of(new AttributedString(" " + Text.visible(state.message()), style.yellow()), keys);
    }

    private List<AttributedString> choosing(Tenant tenant) {
        List<AttributedString> lines = new ArrayList<>();
        lines.add(heading("Limits of " + Text.visible(tenant.name())));
        for (Limit limit : Limit.changeable()) {
            lines.add(AttributedStringBuilder.append(new AttributedString("   " + limit.key() + "  ", TopStyle.BOLD),
                    style.fit(new AttributedString(limit.word()), 11, false), new AttributedString(limit.format(tenant.limits()), style.dim())));
        }
        lines.add(keys("letter", "changes that limit", "Esc", "back"));
        return lines;
    }

    private List<AttributedString> pausing(Tenant tenant, TopLook look) {
        List<AttributedString> lines = new ArrayList<>();
        lines.add(heading("Pause " + PauseText.name(tenant, look.at())));
        for (TopPause choice : TopPause.values()) {
            lines.add(AttributedStringBuilder.append(new AttributedString("   " + choice.key() + "  ", TopStyle.BOLD),
                    style.fit(new AttributedString(choice.word()), 11, false), new AttributedString(choice.meaning(), style.dim())));
        }
        lines.add(keys("letter", "does that", "Esc", "back"));
        return lines;
    }

    private List<AttributedString> editing(TopMode.Editing mode) {
        String now = "now " + mode.limit().format(mode.tenant().limits()) + "; write " + mode.limit().examples();
        AttributedString hint = mode.mistake().isEmpty() ? new AttributedString(" " + now, style.dim())
                : new AttributedString(" " + Text.visible(mode.mistake()), style.red());
        return List.of(heading(mode.limit().word() + " of " + Text.visible(mode.tenant().name())), hint,
                asking("new value: ", mode.text()), keys("Enter", "go on", "Esc", "back"));
    }

    private List<AttributedString> confirming(TopMode.Confirming mode) {
        AttributedString question = AttributedStringBuilder.append(" Set ", new AttributedString(mode.limit().word(), TopStyle.BOLD), " of ",
                new AttributedString(Text.visible(mode.tenant().name()), TopStyle.BOLD), " from " + mode.limit().format(mode.tenant().limits()) + " to ",
                new AttributedString(mode.text().strip(), TopStyle.BOLD), "?");
        return List.of(heading("Change a running job"), question, keys("y", "yes", "any other key", "no"));
    }

    private AttributedString heading(String text) {
        String rule = style.pick("╌", "-");
        AttributedString title = AttributedStringBuilder.append(new AttributedString(rule + " ", style.track()), new AttributedString(text, TopStyle.BOLD), " ");
        return AttributedStringBuilder.append(title, new AttributedString(rule.repeat(Math.max(0, width - title.columnLength())), style.track()));
    }

    private AttributedString asking(String question, String text) {
        return AttributedStringBuilder.append(new AttributedString(" " + question, style.dim()), new AttributedString(Text.visible(text), TopStyle.BOLD),
                new AttributedString(style.pick("▏", "_"), style.yellow()));
    }

    /// As many keys as fit.
    private AttributedString keys(String... keysAndWords) {
        AttributedStringBuilder line = new AttributedStringBuilder();
        for (int at = 0; at < keysAndWords.length; at += 2) {
            AttributedString next = AttributedStringBuilder.append(line.length() == 0 ? " " : "  ", new AttributedString(keysAndWords[at], TopStyle.BOLD),
                    new AttributedString(" " + keysAndWords[at + 1], style.dim()));
            if (line.columnLength() + next.columnLength() <= width) {
                line.append(next);
            }
        }
        return line.toAttributedString();
    }
}
