package sluice.agent.part;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentSkipListMap;
import sluice.agent.http.Answer;

/// When each part of the agent last finished its work. A part that is late hangs, or fails repeatedly: then the agent is not healthy, and
/// systemd may restart it. A fault that a user can cause is only noted, so that no user can force a restart of the agent.
public final class Health {
    private static final int OK = 200;
    private static final int UNAVAILABLE = 503;

    private final long lateNanos;
    private final Map<String, Pulse> pulses = new ConcurrentSkipListMap<>();
    private final Map<String, String> notes = new ConcurrentHashMap<>();

    /// @param lateAfter how long after its time a part may be
    public Health(Duration lateAfter) {
        lateNanos = lateAfter.toNanos();
    }

    /// The work of one part.
    public final class Pulse implements AutoCloseable {
        private final String part;
        private final long allowedNanos;
        private volatile long finishedNanos = System.nanoTime();

        private Pulse(String part, long periodMillis) {
            this.part = part;
            allowedNanos = 2 * periodMillis * 1_000_000 + lateNanos;
        }

        public void finished() {
            finishedNanos = System.nanoTime();
        }

        private long quietNanos() {
            return System.nanoTime() - finishedNanos;
        }

        /// The part ends normally.
        @Override
        public void close() {
            pulses.remove(part, this);
        }
    }

    /// A part that works once in a period from now on.
    public Pulse begin(String part, long periodMillis) {
        Pulse pulse = new Pulse(part, periodMillis);
        pulses.put(part, pulse);
        return pulse;
    }

    /// The same for a thread that reports by itself that it works. @return the report, to be called once a second
    public Runnable everySecond(String part) {
        return begin(part, 1000)::finished;
    }

    /// Notes a fault that a restart would not repair; an empty text: the fault is over.
    public void note(String part, String text) {
        if (text.isEmpty()) {
            notes.remove(part);
        } else {
            notes.put(part, text);
        }
    }

    /// A line for each part that has not finished lately.
    public List<String> late() {
        List<String> late = new ArrayList<>();
        pulses.values().stream().filter(pulse -> pulse.quietNanos() > pulse.allowedNanos)
                .forEach(pulse -> late.add(pulse.part + " last finished " + pulse.quietNanos() / 1_000_000_000 + " s ago"));
        return late;
    }

    /// The answer of `GET /healthz`.
    ///
    /// @param looked whether the machine was looked at at all
    public Answer answer(boolean looked) {
        List<String> late = late();
        List<String> lines = new ArrayList<>(late.isEmpty() ? List.of(looked ? "ok" : "starting") : late);
        notes.forEach((part, text) -> lines.add(part + ": " + text));
        Answer.Whole whole = (Answer.Whole) Answer.text(String.join("\n", lines) + "\n");
        return new Answer.Whole(late.isEmpty() ? OK : UNAVAILABLE, whole.type(), whole.body(), whole.headers());
    }
}
