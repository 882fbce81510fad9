package sluice.trace.read;

import static sluice.region.TraceLayout.*;

import sluice.trace.read.TraceEvent.Direction;
import sluice.trace.read.TraceEvent.Extent;
import sluice.trace.read.TraceEvent.Reason;

/// Makes an event of the words in a ring.
final class EventDecoder {
    private static final int UNKNOWN_GPU = 255;
    private static final long MEMORY_CHANGED = 1 << 8;

    private final TickClock clock;
    private final TraceNames names;

    EventDecoder(TickClock clock, TraceNames names) {
        this.clock = clock;
        this.names = names;
    }

    /// The event, or null when its kind is not known.
    TraceEvent decode(int pid, int tid, long[] words, TraceNames functions) {
        long begin = clock.nanos(words[RingEvent.BEGIN]);
        long end = clock.nanos(words[RingEvent.END]);
        long a = words[RingEvent.A];
        long b = words[RingEvent.B];
        long c = words[RingEvent.C];
        long d = words[RingEvent.D];
        long what = words[RingEvent.WHAT];
        return switch (RingEvent.kind(what)) {
            case KIND_CALL -> new TraceEvent.Call(begin, end, pid, tid, gpu(d), functions.of(RingEvent.entry(what)), RingEvent.status(what),
                    words[RingEvent.STREAM], a, Direction.of(c & 0xff), (c & MEMORY_CHANGED) == 0 ? -1 : b);
            case KIND_KERNEL -> new TraceEvent.Kernel(begin, end, pid, tid, gpu(d >>> 56), functions.of(RingEvent.entry(what)), RingEvent.status(what),
                    words[RingEvent.STREAM], names.of(a), new Extent(b & 0xffffffffL, b >>> 32 & 0xffff, b >>> 48),
                    new Extent(c & 0xffff, c >>> 16 & 0xffff, c >>> 32 & 0xffff), d & 0xffffffffL);
            case KIND_WAIT -> new TraceEvent.Wait(begin, end, pid, tid, gpu(d), Reason.of(a));
            case KIND_TURN -> new TraceEvent.Turn(begin, end, pid, tid, gpu(d));
            case KIND_BATCH -> new TraceEvent.Batch(begin, end, pid, tid, gpu(d), a, b, c);
            case KIND_COST -> new TraceEvent.Cost(begin, end, pid, tid, gpu(d >>> 56), names.of(a), words[RingEvent.STREAM],
                    d & 0xffffffffL, b, c);
            case KIND_RANGE -> new TraceEvent.Range(begin, end, pid, tid, names.of(a), domain(c), (int) b, d != 1);
            case KIND_MARK -> new TraceEvent.Mark(begin, end, pid, tid, names.of(a), domain(c));
            default -> null;
        };
    }

    private String domain(long id) {
        return id == 0 ? "" : names.of(id);
    }

    private static int gpu(long number) {
        return number >= 0 && number < UNKNOWN_GPU ? (int) number : TraceEvent.NO_GPU;
    }
}
