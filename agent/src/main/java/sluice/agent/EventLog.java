package sluice.agent;

import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;

/// The last events, and who wants to hear of the next.
public final class EventLog {
    private static final int KEPT = 500;

    private final Deque<Event> events = new ArrayDeque<>();
    private final List<Consumer<Event>> listeners = new CopyOnWriteArrayList<>();
    private long count;

    EventLog() {}

    public void add(String kind, String tenant, long uid, String text) {
        Event event;
        synchronized (this) {
            event = new Event(++count, Instant.now(), kind, tenant, uid, text);
            events.addLast(event);
            if (events.size() > KEPT) {
                events.removeFirst();
            }
        }
        listeners.forEach(listener -> listener.accept(event));
    }

    /// The last events after a number, oldest first.
    public synchronized List<Event> after(long number, int most) {
        List<Event> later = new ArrayList<>(events.stream().filter(event -> event.number() > number).toList());
        return later.subList(Math.max(0, later.size() - most), later.size());
    }

    /// @return takes the listener away again
    Runnable listen(Consumer<Event> listener) {
        listeners.add(listener);
        return () -> listeners.remove(listener);
    }
}
