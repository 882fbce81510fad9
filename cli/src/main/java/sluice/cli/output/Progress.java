package sluice.cli.output;

import java.io.PrintStream;

/// One line on standard error that shows the progress. The next line replaces it, and the end removes it. Without a terminal it prints
/// nothing.
public final class Progress implements AutoCloseable {
    private static final int BAR = 40;
    private final PrintStream err;
    private final boolean terminal;

    Progress(PrintStream err, boolean terminal) {
        this.err = err;
        this.terminal = terminal;
    }

    public static Progress standard() {
        return new Progress(System.err, Screen.errorIsTerminal());
    }

    /// Whether a person sees it.
    public boolean isSeen() {
        return terminal;
    }

    public void step(String text) {
        if (terminal) {
            err.print("\r\033[K" + Text.cut(text, 100) + " ...");
            err.flush();
        }
    }

    /// Shows how much of the work is done.
    public void bar(String what, long done, long all) {
        int percent = all <= 0 ? 100 : (int) Math.min(100, 100 * done / all);
        int full = percent * BAR / 100;
        step(what + "  " + "█".repeat(full) + "░".repeat(BAR - full) + "  " + percent + " %");
    }

    /// Makes room for a line of output.
    public void clear() {
        if (terminal) {
            err.print("\r\033[K");
            err.flush();
        }
    }

    @Override
    public void close() {
        clear();
    }
}
