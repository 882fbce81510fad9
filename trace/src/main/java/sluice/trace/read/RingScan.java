package sluice.trace.read;

import static sluice.region.layout.TraceLayout.*;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Arrays;

/// The first pass over a ring: finds its clock events, and which of its events are late.
///
/// A thread writes events when they end, so a ring is in the order of ends. Some events are known only later, such as the
/// end of a batch on the GPU. These are few. Their numbers are kept, so that the ring can be read in order.
final class RingScan {
    private static final int BLOCK_EVENTS = 4096;
    /// The library writes fewer late events. But one wrong time makes all later events late.
    private static final int MOST_LATE = 1 << 20;

    private final RingFile ring;
    private long events;
    private long beginTicks = Long.MAX_VALUE;
    private long endTicks = Long.MIN_VALUE;
    private long latestTicks = Long.MIN_VALUE;
    private long[] late = new long[0];
    private long[] lateTicks = new long[0];
    private int lateCount;
    private final TickRange range;
    private long outside;
    private boolean disordered;

    private RingScan(RingFile ring, TickRange range) {
        this.ring = ring;
        this.range = range;
    }

    static RingScan of(RingFile ring, TickClock.Builder clock) throws IOException {
        long[] created = ring.created();
        if (created[0] > 0 && created[1] > 0) {
            clock.vote(created[0], created[1], created[2]);
        }
        return of(ring, clock, TickRange.ALL);
    }

    private static RingScan of(RingFile ring, TickClock.Builder clock, TickRange range) throws IOException {
        RingScan scan = new RingScan(ring, range);
        ByteBuffer block = RingFile.buffer(BLOCK_EVENTS);
        for (long number = ring.first(); number < ring.end(); ) {
            int count = ring.read(number, block);
            for (int event = 0; event < count; event++) {
                scan.look(number + event, block, event * EVENT_BYTES, clock);
            }
            number += count;
        }
        return scan;
    }

    /// The same, without events at impossible times.
    RingScan within(TickRange possible) throws IOException {
        boolean fits = !disordered && outside == 0 && (events == 0 || possible.holds(beginTicks, endTicks));
        return fits ? this : of(ring, null, possible);
    }

    private void look(long number, ByteBuffer block, int at, TickClock.Builder clock) {
        long begin = block.getLong(at);
        int kind = RingEvent.kind(block.getLong(at + Long.BYTES * RingEvent.WHAT));
        if (kind == KIND_CLOCK) {
            if (clock != null) {
                clock.add(begin, block.getLong(at + Long.BYTES * RingEvent.A), block.getLong(at + Long.BYTES * RingEvent.B));
            }
            return;
        }
        long end = block.getLong(at + Long.BYTES * RingEvent.END);
        if (kind == RingEvent.NO_KIND || !range.holds(begin, end)) {
            outside += (begin | end) == 0 ? 0 : 1; // else nothing was ever written there
            return;
        }
        events++;
        beginTicks = Math.min(beginTicks, begin);
        endTicks = Math.max(endTicks, end);
        if (end < latestTicks) {
            if (clock != null && lateCount > MOST_LATE) {
                disordered = true;
            } else {
                addLate(number, end);
            }
        } else {
            latestTicks = end;
        }
    }

    private void addLate(long number, long end) {
        if (lateCount == late.length) {
            late = Arrays.copyOf(late, Math.max(64, lateCount * 2));
            lateTicks = Arrays.copyOf(lateTicks, late.length);
        }
        late[lateCount] = number;
        lateTicks[lateCount++] = end;
    }

    RingFile ring() {
        return ring;
    }

    TickRange range() {
        return range;
    }

    /// The number of events at impossible times.
    long outside() {
        return outside;
    }

    /// Events, the clock's own not counted.
    long events() {
        return events;
    }

    long beginTicks() {
        return beginTicks;
    }

    long endTicks() {
        return endTicks;
    }

    /// Numbers of the late events, as they lie in the ring.
    long[] late() {
        return Arrays.copyOf(late, lateCount);
    }

    /// Numbers of the late events, in the order of their ends.
    long[] lateByEnd() {
        Integer[] order = new Integer[lateCount];
        Arrays.setAll(order, at -> at);
        Arrays.sort(order, (one, other) -> Long.compare(lateTicks[one], lateTicks[other]));
        return Arrays.stream(order).mapToLong(at -> late[at]).toArray();
    }
}
