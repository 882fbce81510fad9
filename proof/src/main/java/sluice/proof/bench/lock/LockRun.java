package sluice.proof.bench.lock;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import sluice.proof.bench.compute.Witness;
import sluice.proof.facts.Load;
import sluice.proof.facts.Stamps;

/// The results of one round of one window, after the first second.
///
/// @param responseMillis of the short task: from the begin of each burst until it is done
/// @param frameSeconds   of the long task: how long each frame of its work took
/// @param holds          in the order of their begins
public record LockRun(LockWindow window, int round, List<Double> responseMillis, List<Double> frameSeconds, List<Hold> holds) {
    static final int FRAME_KERNELS = 100;
    private static final double MILLI = 1e6;
    private static final double SECOND = 1e9;

    /// Kernels of one task, without a kernel of the other task between them.
    ///
    /// @param isShort     whether they belong to the short task
    /// @param beganMillis since the measurement began
    public record Hold(boolean isShort, double beganMillis, double heldMillis, int kernels) {}

    static LockRun of(LockWindow window, int round, Witness shortTask, Optional<Witness> longTask) {
        long warmUp = Math.min(shortTask.responses().size() / 2, (long) SECOND / Load.BURST_PERIOD_NANOS);
        List<Double> responses = shortTask.responses().stream().skip(warmUp).map(nanos -> nanos / MILLI).toList();
        long from = Math.max(shortTask.settled(), longTask.map(Witness::settled).orElse(Long.MIN_VALUE));
        long to = Math.min(shortTask.ended(), longTask.map(Witness::ended).orElse(Long.MAX_VALUE));
        Stamps shorts = shortTask.stamps().between(from, to);
        Stamps longs = longTask.map(task -> task.stamps().between(from, to)).orElse(new Stamps(new long[0], new long[0]));
        return new LockRun(window, round, responses, frames(longs), holds(shorts, longs, from));
    }

    /// From the end of one frame to the end of the next.
    private static List<Double> frames(Stamps stamps) {
        return IntStream.range(2, stamps.count() / FRAME_KERNELS + 1)
                .mapToObj(frame -> (end(stamps, frame) - end(stamps, frame - 1)) / SECOND).toList();
    }

    private static long end(Stamps stamps, int frames) {
        return stamps.ends()[frames * FRAME_KERNELS - 1];
    }

    private static List<Hold> holds(Stamps shorts, Stamps longs, long from) {
        List<Hold> holds = new ArrayList<>();
        int nextShort = 0;
        int nextLong = 0;
        while (nextShort < shorts.count() || nextLong < longs.count()) {
            boolean isShort = isFirst(shorts, nextShort, longs, nextLong);
            Stamps own = isShort ? shorts : longs;
            Stamps other = isShort ? longs : shorts;
            int first = isShort ? nextShort : nextLong;
            int others = isShort ? nextLong : nextShort;
            int last = first;
            while (last + 1 < own.count() && isFirst(own, last + 1, other, others)) {
                last++;
            }
            holds.add(new Hold(isShort, (own.begins()[first] - from) / MILLI, (own.ends()[last] - own.begins()[first]) / MILLI, last - first + 1));
            nextShort = isShort ? last + 1 : nextShort;
            nextLong = isShort ? nextLong : last + 1;
        }
        return holds;
    }

    private static boolean isFirst(Stamps one, int at, Stamps other, int there) {
        return at < one.count() && (there >= other.count() || one.begins()[at] <= other.begins()[there]);
    }
}
