package sluice.cli.top.terminal;

import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOError;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.jline.terminal.Attributes;
import org.jline.terminal.Size;
import org.jline.terminal.Terminal;
import org.jline.terminal.Terminal.Signal;
import org.jline.terminal.TerminalBuilder;
import org.jline.utils.AttributedString;
import org.jline.utils.Curses;
import org.jline.utils.Display;
import org.jline.utils.InfoCmp.Capability;
import sluice.linux.ProgramCalls;
import sluice.region.place.SluiceException;

/// The terminal while `sluice top` uses it. At every end of the program the terminal is restored: a hook of the JVM does that after SIGTERM,
/// SIGHUP and exceptions. Each drawing is one synchronized update of the changed lines.
public final class TopTerminal implements AutoCloseable {
    private static final String SYNCHRONIZED_OFF = "\033[?2026l";
    private static final String NO_ATTRIBUTES = "\033[0m";
    private static final long CONTINUED_MILLIS = 300;

    private final Terminal terminal;
    private final Display display;
    private final Attributes before;
    private final byte[] enter;
    private final byte[] leave;
    private final BlockingQueue<TopEvent> events = new LinkedBlockingQueue<>();
    private final Semaphore nextKey = new Semaphore(0);
    private final Thread hook = new Thread(this::leave);
    private boolean entered;

    private TopTerminal(Terminal terminal) {
        this.terminal = terminal;
        before = terminal.getAttributes();
        display = new Display(terminal, true);
        enter = bytes(Capability.enter_ca_mode, Capability.keypad_xmit, Capability.cursor_invisible, Capability.clear_screen);
        leave = (SYNCHRONIZED_OFF + NO_ATTRIBUTES + text(Capability.cursor_normal, Capability.keypad_local, Capability.exit_ca_mode)).getBytes(StandardCharsets.US_ASCII);
    }

    /// Takes over the terminal. Standard input and output must both be this terminal.
    public static TopTerminal open() {
        Terminal terminal = system();
        if (terminal.getType().startsWith(Terminal.TYPE_DUMB)) {
            close(terminal);
            throw new SluiceException("this terminal (TERM=" + System.getenv().getOrDefault("TERM", "") + ") cannot be drawn on; use sluice top --once");
        }
        TopTerminal top = new TopTerminal(terminal);
        Runtime.getRuntime().addShutdownHook(top.hook);
        top.listen();
        top.enter();
        return top;
    }

    private static Terminal system() {
        try {
            return TerminalBuilder.builder().system(true).provider("ffm").encoding(StandardCharsets.UTF_8).nativeSignals(true)
                    .signalHandler(Terminal.SignalHandler.SIG_IGN).graphemeCluster(false).build();
        } catch (IOException | IllegalStateException e) {
            throw new SluiceException("the terminal cannot be used (" + e.getMessage() + "); use sluice top --once", e);
        }
    }

    /// The columns of the terminal that standard output is.
    public static int width() {
        Terminal terminal = system();
        int width = terminal.getSize().getColumns();
        close(terminal);
        return width;
    }

    private static void close(Terminal terminal) {
        try {
            terminal.close();
        } catch (IOException e) {
            // It is gone.
        }
    }

    private void listen() {
        terminal.handle(Signal.WINCH, signal -> events.add(new TopEvent.Changed()));
        terminal.handle(Signal.CONT, signal -> events.add(new TopEvent.Changed()));
        terminal.handle(Signal.INT, signal -> events.add(new TopEvent.Ended()));
        terminal.handle(Signal.TSTP, signal -> events.add(new TopEvent.Suspended()));
        Thread.ofPlatform().daemon().name("keys").start(() -> {
            TopInput input = TopInput.standard();
            try {
                for (Optional<TopKey> key = TopKey.read(input); key.isPresent(); key = TopKey.read(input)) {
                    events.add(new TopEvent.Pressed(key.get()));
                    nextKey.acquire();
                }
            } catch (IOException | InterruptedException e) {
                // It is gone.
            }
            events.add(new TopEvent.Ended());
        });
    }

    public BlockingQueue<TopEvent> events() {
        return events;
    }

    /// The key was handled. Keys after the last one go to the shell.
    public void readNextKey() {
        nextKey.release();
    }

    public Size size() {
        return terminal.getSize();
    }

    /// Keys come one by one and without echo; Ctrl-C and Ctrl-Z are keys like others.
    private synchronized void enter() {
        Attributes raw = new Attributes(before);
        raw.setLocalFlags(EnumSet.of(Attributes.LocalFlag.ICANON, Attributes.LocalFlag.ECHO, Attributes.LocalFlag.IEXTEN, Attributes.LocalFlag.ISIG), false);
        raw.setInputFlags(EnumSet.of(Attributes.InputFlag.IXON, Attributes.InputFlag.ICRNL, Attributes.InputFlag.INLCR), false);
        raw.setControlChar(Attributes.ControlChar.VMIN, 1);
        raw.setControlChar(Attributes.ControlChar.VTIME, 0);
        terminal.setAttributes(raw);
        write(enter);
        entered = true;
        display.clear();
    }

    /// May be called by the JVM's last thread, when JLine has closed its streams already.
    private synchronized void leave() {
        if (entered) {
            entered = false;
            write(leave);
            try {
                terminal.setAttributes(before);
            } catch (RuntimeException | IOError e) {
                // JLine has set them already, or the terminal is gone.
            }
        }
    }

    /// The next drawing is complete.
    public synchronized void redraw() {
        if (entered) {
            enter();
        }
    }

    public synchronized void draw(List<AttributedString> lines, Size size) {
        if (entered) {
            display.resize(size);
            terminal.synchronizedUpdate(() -> display.update(lines, 0, false));
            terminal.flush();
        }
    }

    /// Gives the terminal back and stops, as the shell expects it, until the shell lets the program go on.
    public void suspend() throws InterruptedException {
        leave();
        terminal.handle(Signal.TSTP, Terminal.SignalHandler.SIG_DFL);
        ProgramCalls.stopJob();
        // The kernel may stop another thread first; when this wait is over the program was stopped and goes on, or cannot be stopped.
        TimeUnit.MILLISECONDS.sleep(CONTINUED_MILLIS);
        terminal.handle(Signal.TSTP, signal -> events.add(new TopEvent.Suspended()));
        enter();
    }

    @Override
    public void close() {
        leave();
        close(terminal);
    }

    private byte[] bytes(Capability... capabilities) {
        return text(capabilities).getBytes(StandardCharsets.US_ASCII);
    }

    private String text(Capability... capabilities) {
        StringBuilder text = new StringBuilder();
        for (Capability capability : capabilities) {
            String code = terminal.getStringCapability(capability);
            text.append(code == null ? "" : Curses.tputs(code));
        }
        return text.toString();
    }

    private static void write(byte[] bytes) {
        try {
            @SuppressWarnings("resource")
            FileOutputStream out = new FileOutputStream(FileDescriptor.out);
            out.write(bytes);
        } catch (IOException e) {
            // It is gone.
        }
    }
}
