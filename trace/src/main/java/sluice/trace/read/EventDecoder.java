package sluice.trace.read;

import static sluice.region.layout.TraceLayout.*;

import java.util.Set;
import sluice.trace.read.TraceEvent.Direction;
import sluice.trace.read.TraceEvent.Extent;
import sluice.trace.read.TraceEvent.Measured;
import sluice.trace.read.TraceEvent.Reason;

/// Makes an event from the words in a ring, if the words are possible.
final class EventDecoder {
    private static final int UNKNOWN_GPU = 255;
    private static final long MEMORY_CHANGED = 1 << 8;
    private static final long MOST_BYTES = 1L << 50;
    private static final long MOST_NANOS = 86_400_000_000_000L;
    private static final long MOST_CALLS = 1L << 32;
    private static final long MOST_DEPTH = 64;
    /// A batch is charged the GPU's time, which may be off a little.
    private static final long CHARGED_BEYOND_NANOS = 100_000_000;

    private final TickClock clock;
    private final TickRange range;
    private final TraceNames names;
    private final Set<Integer> gpus;

    /// @param gpus the GPUs that the trace names; empty: it names none
    EventDecoder(TickClock clock, TickRange range, TraceNames names, Set<Integer> gpus) {
        this.clock = clock;
        this.range = range;
        this.names = names;
        this.gpus = gpus;
    }

    /// The event, or null when it is damaged.
    TraceEvent decode(int pid, int tid, long[] words, TraceNames functions) {
        long begin = clock.nanos(range.shown(words[RingEvent.BEGIN]));
        long end = clock.nanos(words[RingEvent.END]);
        long a = words[RingEvent.A];
        long b = words[RingEvent.B];
        long c = words[RingEvent.C];
        long d = words[RingEvent.D];
        long what = words[RingEvent.WHAT];
        if (end < begin || !isPossible(RingEvent.kind(what), end - begin, a, b, c)) {
            return null;
        }
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
                    d & 0xffffffffL, b, c, measured(what));
            case KIND_RANGE -> new TraceEvent.Range(begin, end, pid, tid, names.of(a), domain(c), (int) b, d != 1);
            case KIND_MARK -> new TraceEvent.Mark(begin, end, pid, tid, names.of(a), domain(c));
            default -> null;
        };
    }

    private static boolean isPossible(int kind, long nanos, long a, long b, long c) {
        return switch (kind) {
            case KIND_CALL -> isBelow(a, MOST_BYTES) && ((c & MEMORY_CHANGED) == 0 || isBelow(b, MOST_BYTES));
            case KIND_BATCH -> isBelow(a, MOST_CALLS) && isBelow(c, MOST_NANOS) && isBelow(b, nanos + c + CHARGED_BEYOND_NANOS);
            case KIND_COST -> isBelow(b, MOST_NANOS) && isBelow(c, MOST_CALLS);
            case KIND_RANGE -> isBelow(b, MOST_DEPTH);
            default -> true;
        };
    }

    private static boolean isBelow(long value, long most) {
        return value >= 0 && value < most;
    }

    /// How a time was measured, and the thousandths that it may be off.
    private static Measured measured(long what) {
        int status = RingEvent.status(what);
        return switch (RingEvent.entry(what)) {
            case SAMPLE_ALONE -> new Measured(true, Math.min(1000, status & 0xffff), status >>> 16 & 0x7fff);
            default -> Measured.AT_MOST;
        };
    }

    private String domain(long id) {
        return id == 0 ? "" : names.of(id);
    }

    private int gpu(long number) {
        boolean known = number >= 0 && number < UNKNOWN_GPU && (gpus.isEmpty() || gpus.contains((int) number));
        return known ? (int) number : TraceEvent.NO_GPU;
    }
}
