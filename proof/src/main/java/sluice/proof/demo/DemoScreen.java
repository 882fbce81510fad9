package sluice.proof.demo;

import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import sluice.region.limits.Size;

/// Shows the jobs: bars that are redrawn in place on a terminal, otherwise a line for each change. A line must not be
/// wider than 80 columns, or redrawing would leave parts of it behind.
final class DemoScreen {
    private static final int BAR_WIDTH = 24;
    private static final String UP_AND_CLEAR = "\033[%dA\033[J";

    private final PrintStream out;
    private final boolean redraw;
    private final boolean blocks;
    private int drawnLines;

    DemoScreen(PrintStream out, boolean redraw) {
        this.out = out;
        this.redraw = redraw;
        blocks = out.charset().equals(StandardCharsets.UTF_8);
    }

    void say(String line) {
        out.println(line);
    }

    void show(List<DemoJob> jobs) {
        if (redraw) {
            out.print(drawnLines == 0 ? "" : UP_AND_CLEAR.formatted(drawnLines));
            jobs.forEach(job -> out.println("  " + bar(job)));
            drawnLines = jobs.size();
        } else {
            out.println("  " + String.join("   ", jobs.stream().map(DemoScreen::figures).toList()));
        }
        out.flush();
    }

    private String bar(DemoJob job) {
        int filled = (int) (BAR_WIDTH * job.usedBytes() / job.tenant.quotaBytes());
        String bar = (blocks ? "█" : "#").repeat(filled) + (blocks ? "░" : ".").repeat(BAR_WIDTH - filled);
        return "%-10s %s  %s of %s  %s".formatted(job.name, bar,
                Size.format(job.usedBytes()), Size.format(job.tenant.quotaBytes()), state(job));
    }

    private static String figures(DemoJob job) {
        return "%s %s of %s%s".formatted(job.name, Size.format(job.usedBytes()),
                Size.format(job.tenant.quotaBytes()), job.stopped() ? " (" + state(job) + ")" : "");
    }

    private static String state(DemoJob job) {
        return job.stopped() ? "out of memory" : "growing";
    }
}
