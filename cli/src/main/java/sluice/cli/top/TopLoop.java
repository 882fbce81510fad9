package sluice.cli.top;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.jline.terminal.Size;
import sluice.api.pause.FollowedOperation;
import sluice.api.pause.PauseBody;
import sluice.cli.tables.OperationText;
import sluice.cli.tables.SetText;
import sluice.cli.tenants.SeenTenants;
import sluice.cli.top.terminal.TopEvent;
import sluice.cli.top.terminal.TopKey;
import sluice.cli.top.terminal.TopStyle;
import sluice.cli.top.terminal.TopTerminal;
import sluice.region.Tenant;
import sluice.region.place.SluiceException;

/// Looks, draws, and carries out the keys, until it is told to stop.
final class TopLoop {
    private final TopTerminal terminal;
    private final TopWatch watch;
    private final TopStyle style;
    private final long periodNanos;
    private TopState state = TopState.FIRST;
    private TopLook look;
    private Size size;
    private boolean ended;
    /// The pause or resume that was begun here last; null: none runs.
    private FollowedOperation operation;

    private TopLoop(TopTerminal terminal, TopWatch watch, TopStyle style, Duration period) {
        this.terminal = terminal;
        this.watch = watch;
        this.style = style;
        periodNanos = period.toNanos();
    }

    static void run(TopWatch watch, TopStyle style, Duration period) throws InterruptedException {
        TopLook first = watch.look();
        try (TopTerminal terminal = TopTerminal.open()) {
            TopLoop loop = new TopLoop(terminal, watch, style, period);
            loop.look = first;
            loop.size = terminal.size();
            loop.run();
        }
    }

    private void run() throws InterruptedException {
        long next = System.nanoTime() + periodNanos;
        while (!ended) {
            draw();
            TopEvent event = terminal.events().poll(next - System.nanoTime(), TimeUnit.NANOSECONDS);
            while (event != null && !ended) {
                happened(event);
                event = terminal.events().poll();
            }
            if (System.nanoTime() >= next) {
                next = System.nanoTime() + periodNanos;
                follow();
                look = state.held() ? look : watch.look();
            }
        }
    }

    private void draw() {
        Size now = terminal.size();
        if (!now.equals(size)) {
            size = now;
            terminal.redraw();
        }
        terminal.draw(TopView.screen(look, state, style, size.getColumns(), size.getRows()), size);
    }

    private void happened(TopEvent event) throws InterruptedException {
        switch (event) {
            case TopEvent.Pressed(TopKey key) -> pressed(key);
            case TopEvent.Changed() -> terminal.redraw();
            case TopEvent.Suspended() -> terminal.suspend();
            case TopEvent.Ended() -> ended = true;
        }
    }

    private void pressed(TopKey key) throws InterruptedException {
        TopStep step = TopStep.press(key, state, look);
        state = step.state();
        switch (step.action()) {
            case TopStep.Simple.NOTHING -> { }
            case TopStep.Simple.QUIT -> ended = true;
            case TopStep.Simple.SUSPEND -> terminal.suspend();
            case TopStep.Simple.REDRAW -> terminal.redraw();
            case TopStep.SetTo set -> set(set);
            case TopStep.OperateTo wanted -> operate(wanted);
        }
        if (!ended) {
            terminal.readNextKey();
        }
    }

    private void operate(TopStep.OperateTo wanted) {
        try {
            operation = new SeenTenants(System.getenv()).operate(wanted.tenant(), new PauseBody(wanted.kind(), Optional.empty()));
            state = state.saying(OperationText.asked(operation.look()));
        } catch (SluiceException e) {
            state = state.saying(e.getMessage());
        }
    }

    /// Polls the operation that runs, and shows its result when it ends.
    private void follow() {
        try {
            if (operation != null && !operation.look().runs()) {
                state = state.saying(OperationText.result(operation.look()));
                operation = null;
            }
        } catch (SluiceException e) {
            operation = null;
        }
    }

    private void set(TopStep.SetTo set) {
        try {
            Tenant after = new SeenTenants(System.getenv()).set(set.tenant(), set.change());
            List<String> lines = SetText.lines(set.tenant(), after, set.change());
            state = state.saying(String.join("; ", lines));
        } catch (SluiceException e) {
            state = state.saying(e.getMessage());
        }
    }
}
