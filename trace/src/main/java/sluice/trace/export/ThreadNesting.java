package sluice.trace.export;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import sluice.trace.read.TraceEvent;

/// Sorts the events of a thread by their begins. They arrive in the order of their ends, so a wait arrives before the call that it
/// delayed. Holds a few slices back, until no event that began earlier can follow.
final class ThreadNesting {
    private static final int HELD_BACK = 64;

    private final Deque<Slice> held = new ArrayDeque<>();

    /// A slice and what lies within.
    record Slice(TraceEvent event, List<Slice> within) {}

    /// Takes the next event, and returns a slice that is complete, or null.
    Slice add(TraceEvent event) {
        List<Slice> within = new ArrayList<>(0);
        while (!held.isEmpty() && liesWithin(held.getLast().event, event)) {
            within.addFirst(held.removeLast());
        }
        held.addLast(new Slice(event, within));
        return held.size() > HELD_BACK ? held.removeFirst() : null;
    }

    /// A call that took no time at all, and ended when the next began, came before it.
    private static boolean liesWithin(TraceEvent before, TraceEvent event) {
        return before.beginNanos() > event.beginNanos() || before.beginNanos() == event.beginNanos()
                && (before instanceof TraceEvent.Wait || before.endNanos() > event.beginNanos());
    }

    /// The next slice after the last event, or null.
    Slice rest() {
        return held.pollFirst();
    }
}
