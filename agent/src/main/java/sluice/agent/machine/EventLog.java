package sluice.agent.machine;

import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// The last events, and the listeners for the next. No listener misses an event or gets two in the wrong order.
public final class EventLog {
    private static final int KEPT = 500;
    private static final int MOST_TEXT = 500;
    private static final Pattern MARK = Pattern.compile("(\\d{1,18})\\.(\\d{1,18})");

    private final long begunMillis = System.currentTimeMillis();
    private final Deque<Event> events = new ArrayDeque<>();
    private final List<Consumer<Event>> listeners = new CopyOnWriteArrayList<>();
    private final Map<Long, Integer> kept = new HashMap<>();
    private long count;

    public EventLog() {}

    public synchronized void add(String kind, String tenant, long uid, String text) {
        Event event = new Event(++count, Instant.now(), kind, tenant, uid, text.substring(0, Math.min(text.length(), MOST_TEXT)));
        events.addLast(event);
        kept.merge(uid, 1, Integer::sum);
        if (events.size() > KEPT) {
            forgetOne();
        }
        listeners.forEach(listener -> listener.accept(event));
    }

    /// The oldest event of the user with the most events, so that no user can push out the events of others.
    private void forgetOne() {
        long busiest = Collections.max(kept.entrySet(), Map.Entry.comparingByValue()).getKey();
        Iterator<Event> oldest = events.iterator();
        while (oldest.next().uid() != busiest) {
            // Of another user.
        }
        oldest.remove();
        kept.computeIfPresent(busiest, (uid, number) -> number == 1 ? null : number - 1);
    }

    /// The last events, oldest first.
    public synchronized List<Event> last(int most) {
        return after(0, most);
    }

    private List<Event> after(long number, int most) {
        List<Event> later = new ArrayList<>(events.stream().filter(event -> event.number() > number).toList());
        return later.subList(Math.max(0, later.size() - most), later.size());
    }

    /// A mark from which a listener can ask for later events. It is valid for this log alone: a new agent counts from 1 again.
    String mark(Event event) {
        return begunMillis + "." + event.number();
    }

    /// @param mark perhaps of another log: then no event of this log was seen
    /// @return the number of the last event seen
    long seen(String mark) {
        Matcher parts = MARK.matcher(mark);
        if (!parts.matches()) {
            throw new IllegalArgumentException("bad mark of an event: " + mark);
        }
        return Long.parseLong(parts.group(1)) == begunMillis ? Long.parseLong(parts.group(2)) : 0;
    }

    /// Sends a listener the events after a number, the last ones if there are too many, and then each further event. The listener must not
    /// wait. @return removes the listener
    public synchronized Runnable listen(long number, int most, Consumer<Event> listener) {
        after(number, most).forEach(listener);
        listeners.add(listener);
        return () -> listeners.remove(listener);
    }
}
