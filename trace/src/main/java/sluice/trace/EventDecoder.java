package sluice.trace;

import java.util.function.IntFunction;
import sluice.trace.TraceEvent.Direction;
import sluice.trace.TraceEvent.Extent;
import sluice.trace.TraceEvent.Reason;

/// Makes an event of the words in a ring.
final class EventDecoder {
    private static final long MEMORY_AS_BEFORE = 0;

    private final TickClock clock;
    private final TraceNames names;
    private final IntFunction<String> functions;

    EventDecoder(TickClock clock, TraceNames names, IntFunction<String> functions) {
        this.clock = clock;
        this.names = names;
        this.functions = functions;
    }

    /// The event, or null when its kind is not known.
    TraceEvent decode(int pid, int tid, long[] words) {
        long begin = clock.nanos(words[RingEvent.BEGIN]);
        long end = clock.nanos(words[RingEvent.END]);
        long a = words[RingEvent.A];
        long b = words[RingEvent.B];
        long c = words[RingEvent.C];
        long d = words[RingEvent.D];
        long what = words[RingEvent.WHAT];
        return switch (RingEvent.kind(what)) {
            case RingEvent.CALL -> new TraceEvent.Call(begin, end, pid, tid, gpu(d), function(what), RingEvent.status(what),
                    words[RingEvent.STREAM], a, Direction.of(c), b == MEMORY_AS_BEFORE ? -1 : b);
            case RingEvent.KERNEL -> new TraceEvent.Kernel(begin, end, pid, tid, gpu(d >>> 56), function(what), RingEvent.status(what),
                    words[RingEvent.STREAM], names.of(pid, a), new Extent(b & 0xffffffffL, b >>> 32 & 0xffff, b >>> 48),
                    new Extent(c & 0xffff, c >>> 16 & 0xffff, c >>> 32 & 0xffff), d & 0xffffffffL);
            case RingEvent.WAIT -> new TraceEvent.Wait(begin, end, pid, tid, gpu(d), Reason.of(a));
            case RingEvent.TURN -> new TraceEvent.Turn(begin, end, pid, tid, gpu(d));
            case RingEvent.BATCH -> new TraceEvent.Batch(begin, end, pid, tid, gpu(d), a, b);
            case RingEvent.COST -> new TraceEvent.Cost(begin, end, pid, tid, names.of(pid, a), b, c);
            case RingEvent.RANGE -> new TraceEvent.Range(begin, end, pid, tid, names.of(pid, a), (int) b);
            case RingEvent.MARK -> new TraceEvent.Mark(begin, end, pid, tid, names.of(pid, a));
            default -> null;
        };
    }

    private String function(long what) {
        return functions.apply(RingEvent.entry(what));
    }

    private static int gpu(long number) {
        return (int) number;
    }
}
