package sluice.cli.top;

import java.io.PrintWriter;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import sluice.cli.output.AnyCommand;
import sluice.cli.output.Screen;
import sluice.cli.top.terminal.TopStyle;
import sluice.region.place.SluiceException;

/// Every start of the command line loads this class, so its signatures have no type of JLine.
@Command(
        name = "top",
        header = "Shows GPUs and tenants live: memory and GPU time by tenant, limits, waits, errors.",
        description = {
            "",
            "Fills the terminal until q is pressed; h tells the other keys. Sorts, filters, shows details, and changes",
            "the limits of a running tenant after asking. --once and --json are for scripts; GPU time and waits are those",
            "of the last interval.",
            ""
        },
        footer = {"", "Exit status: 0 ended by a key or by --once, 1 standard input or output is no terminal, 2 usage."})
public final class TopCommand extends AnyCommand implements Runnable {
    private static final Duration SHORTEST = Duration.ofMillis(100);
    private static final Duration ONCE = Duration.ofMillis(250);
    private static final Duration LONGEST = Duration.ofHours(1);

    @Option(names = "--interval", paramLabel = "TIME",
            description = "How often it looks, 100ms to 1h; default 1s, with --once 250ms.")
    private Duration interval;

    @Option(names = "--once", description = "Looks twice, an interval apart, writes one page, and ends.")
    private boolean once;

    @Option(names = "--json", description = "Writes a line of JSON for each interval until it is stopped; with --once just one.")
    private boolean json;

    @Override
    public void run() {
        if (interval == null) {
            interval = once ? ONCE : Duration.ofSeconds(1);
        }
        if (interval.compareTo(SHORTEST) < 0 || interval.compareTo(LONGEST) > 0) {
            throw new ParameterException(spec.commandLine(), "--interval: give a time from 100ms to 1h");
        }
        Screen screen = Screen.standard();
        boolean terminal = screen.terminal() && Screen.inputIsTerminal();
        if (!once && !json && !terminal) {
            throw new SluiceException("standard input and output are no terminal; use sluice top --once, or --json");
        }
        TopWatch watch = new TopWatch(System.getenv());
        TopStyle style = new TopStyle(screen.coloured(), Charset.forName(System.getProperty("stdout.encoding", "UTF-8")).equals(StandardCharsets.UTF_8));
        PrintWriter out = spec.commandLine().getOut();
        try {
            if (json) {
                TopPage.json(watch, interval, once, out);
            } else if (once) {
                TopPage.write(watch, interval, style, terminal, out);
            } else {
                TopLoop.run(watch, style, interval);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
