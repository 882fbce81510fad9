package sluice.cli.top;

import java.io.PrintWriter;
import java.time.Duration;
import java.util.List;
import org.jline.utils.AttributedCharSequence.ForceMode;
import org.jline.utils.AttributedString;
import sluice.cli.top.terminal.TopStyle;
import sluice.cli.top.terminal.TopTerminal;

/// The output of `sluice top` without a terminal.
final class TopPage {
    private static final int WIDTH = 120;
    private static final int COLOURS = 256;

    private TopPage() {}

    static void write(TopWatch watch, Duration interval, TopStyle style, boolean terminal, PrintWriter out) throws InterruptedException {
        watch.look();
        Thread.sleep(interval);
        List<AttributedString> lines = TopView.page(watch.look(), style, terminal ? TopTerminal.width() : WIDTH);
        lines.forEach(line -> out.println((style.coloured() ? line.toAnsi(COLOURS, ForceMode.None) : line.toString()).stripTrailing()));
    }

    /// Runs until the reader of the output is gone.
    static void json(TopWatch watch, Duration interval, boolean once, PrintWriter out) throws InterruptedException {
        TopLook earlier = watch.look();
        do {
            Thread.sleep(interval);
            TopLook look = watch.look();
            TopJson.write(out, look, earlier);
            earlier = look;
        } while (!once && !out.checkError());
    }
}
