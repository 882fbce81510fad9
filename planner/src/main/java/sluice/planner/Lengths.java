package sluice.planner;

import java.util.List;

/// Turns shares into lengths of turns, for the tenants of one priority.
///
/// The average length over the tenants that want the GPU is the average of the lengths that they ask for. Weights may differ so much that a
/// turn would be shorter than a millisecond, and most of it a hand-over. Then all turns are longer. If that made one longer than 100 ms,
/// the shortest turns are shorter than a millisecond after all. A length that a tenant asked for is always within the bounds.
final class Lengths {
    private static final double SHORT_NANOS = 1e6;
    private static final double LONG_NANOS = 100e6;
    private static final double SHORTEST_NANOS = 100e3;

    private final double[] lengths;
    private final double longest;

    Lengths(List<TenantDemand> tenants, Claims claims) {
        int wanting = 0;
        double asked = 0;
        double shares = 0;
        double least = Double.MAX_VALUE;
        double most = 0;
        for (int at = 0; at < tenants.size(); at++) {
            if (claims.wants(at)) {
                wanting++;
                asked += tenants.get(at).turnNanos();
                shares += claims.share(at);
                least = Math.min(least, claims.share(at));
                most = Math.max(most, claims.share(at));
            }
        }
        double average = asked / wanting;
        longest = Math.max(LONG_NANOS, average);
        double unit = Math.max(asked / shares, Math.min(SHORT_NANOS, average) / least);
        unit = Math.min(unit, longest / most);
        lengths = new double[tenants.size()];
        for (int at = 0; at < lengths.length; at++) {
            lengths[at] = unit * claims.share(at);
        }
    }

    long nanos(int at) {
        return Math.round(Math.clamp(lengths[at], SHORTEST_NANOS, longest));
    }
}
