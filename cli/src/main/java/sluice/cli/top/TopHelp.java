package sluice.cli.top;

import java.util.ArrayList;
import java.util.List;
import org.jline.utils.AttributedString;
import org.jline.utils.AttributedStringBuilder;
import sluice.cli.top.terminal.TopStyle;

/// Explains the screen and the keys. It fits 80 columns and 24 lines.
final class TopHelp {
    private static final String[][] TEXT = {
        {"", ""},
        {"memory", "what each tenant holds; grey, or +: what is outside Sluice"},
        {"time", "what each tenant had of the GPU in the last interval"},
        {"USED, LIMIT", "memory used and quota; yellow: more than nine tenths of it"},
        {"GOT, TREND", "part of the GPU's time in the last interval, and in those before"},
        {"ASKED", "cap (25%), weight (w3), priority unless normal, excl"},
        {"WAIT", "part of the time that calls waited, all threads together"},
        {"DEBT", "GPU time ahead of the cap, paid back by waiting"},
        {"CALLS/S", "calls per second that put work on the GPU"},
        {"REFUSED", "allocations over the quota; ERRORS: lines of 'sluice inspect'"},
        {"-", "none, or not measured: the job asked for no share of time"},
        {"", ""},
        {"up, down, j, k", "select a tenant; also PgUp, PgDn, Home, End"},
        {"Enter", "details of the selected tenant: where there is room, off, on"},
        {"s, r", "sort by the next column; the other way round"},
        {"/", "show only tenants whose name, command or pid matches; Esc: all"},
        {"g", "show one GPU after the other, then all"},
        {"l", "change a limit of the selected tenant; asks before it does"},
        {"p", "pause, release, vacate or resume the selected tenant; asks how"},
        {"space", "hold the view still, and go on"},
        {"q, Ctrl-C", "quit; Ctrl-Z: suspend; Ctrl-L: draw anew"}
    };
    private static final int LABEL = 16;

    private TopHelp() {}

    static List<AttributedString> lines(TopStyle style, int width) {
        List<AttributedString> lines = new ArrayList<>();
        for (String[] line : TEXT) {
            lines.add(style.cut(AttributedStringBuilder.append(style.fit(new AttributedString(" " + line[0], TopStyle.BOLD), LABEL, false),
                    new AttributedString(line[1], style.dim())), width));
        }
        return lines;
    }
}
