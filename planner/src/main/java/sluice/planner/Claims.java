package sluice.planner;

import java.util.List;

/// GPU time that each tenant of one priority should have had and did not have.
///
/// Only a tenant that always wanted more has a claim: the others had what they asked for. So time that was lent while its owner was idle is
/// gone. The owner has its full share from the moment it comes back, no more. Claims are balanced by debts of other tenants. A tenant that
/// leaves takes its claims or debts with it. Both fade, and they at most double or halve a turn.
final class Claims {
    private static final double SHORTEST_HORIZON_NANOS = 1e9;
    private static final int ROUNDS_TO_REPAY = 4;
    private static final double MEMORY_NANOS = 60e9;
    private static final double LARGEST_FACTOR = 2;

    private final Interval interval;
    private final double[] fair;
    private final double[] lag;
    private final double horizonNanos;

    private Claims(Interval interval, double[] fair, double[] lag, double horizonNanos) {
        this.interval = interval;
        this.fair = fair;
        this.lag = lag;
        this.horizonNanos = horizonNanos;
    }

    static Claims since(Plan last, long nowNanos, List<TenantDemand> tenants) {
        double round = tenants.stream().mapToDouble(TenantDemand::turnNanos).sum();
        double horizon = Math.max(SHORTEST_HORIZON_NANOS, ROUNDS_TO_REPAY * round);
        Interval interval = Interval.since(last, nowNanos, horizon, tenants);
        double[] lag = lag(last, interval, tenants);
        balance(lag);
        return new Claims(interval, fair(interval, tenants), lag, horizon);
    }

    private static double[] lag(Plan last, Interval interval, List<TenantDemand> tenants) {
        double[] due = due(interval, tenants);
        double[] lag = new double[due.length];
        double kept = Math.exp(-interval.elapsedNanos() / MEMORY_NANOS);
        for (int at = 0; at < lag.length; at++) {
            Turn before = last.turns().get(tenants.get(at).id());
            if (before != null && interval.elapsedNanos() > 0 && !tenants.get(at).exclusive()) {
                double now = kept * before.lagNanos() + due[at] - interval.takenNanos()[at];
                lag[at] = interval.eager()[at] ? now : Math.min(0, now);
            }
        }
        return lag;
    }

    /// Makes the sum of the claims that of the debts, whichever is less.
    private static void balance(double[] lag) {
        double claims = 0;
        double debts = 0;
        for (double one : lag) {
            claims += Math.max(0, one);
            debts -= Math.min(0, one);
        }
        double met = Math.min(claims, debts);
        for (int at = 0; at < lag.length; at++) {
            lag[at] = met == 0 ? 0 : lag[at] * met / (lag[at] > 0 ? claims : debts);
        }
    }

    /// What each tenant should have had of the time that was used. A tenant that did not always want more had what it wanted, if that was
    /// no more than its share.
    private static double[] due(Interval interval, List<TenantDemand> tenants) {
        double[] bounds = new double[tenants.size()];
        for (int at = 0; at < bounds.length; at++) {
            double cap = tenants.get(at).cap() * interval.elapsedNanos();
            bounds[at] = interval.eager()[at] ? cap : Math.min(cap, interval.takenNanos()[at]);
        }
        return Shares.fill(Shares.sum(interval.takenNanos()), weights(tenants), bounds);
    }

    /// The share of the priority's time that each tenant should get from now on. It assumes that each wants all of it. A tenant that
    /// does not want it gets the share that it would have if it came back.
    private static double[] fair(Interval interval, List<TenantDemand> tenants) {
        double[] weights = weights(tenants);
        double[] bounds = new double[weights.length];
        for (int at = 0; at < weights.length; at++) {
            bounds[at] = interval.wants()[at] ? tenants.get(at).cap() / interval.part() : 0;
        }
        double[] fair = Shares.fill(1, weights, bounds);
        double unit = 0;
        for (int at = 0; at < weights.length; at++) {
            unit = Math.max(unit, fair[at] / weights[at]);
        }
        for (int at = 0; at < weights.length; at++) {
            double cap = tenants.get(at).cap();
            fair[at] = interval.wants()[at] ? fair[at] : Math.min(weights[at] * unit, cap / (1 - cap));
        }
        return fair;
    }

    private static double[] weights(List<TenantDemand> tenants) {
        return tenants.stream().mapToDouble(TenantDemand::weight).toArray();
    }

    double lagNanos(int at) {
        return lag[at];
    }

    boolean wants(int at) {
        return interval.wants()[at];
    }

    /// The part of the time to plan for: the fair one, and what repays the lag.
    double share(int at) {
        return Math.clamp(fair[at] + lag[at] / horizonNanos, fair[at] / LARGEST_FACTOR, fair[at] * LARGEST_FACTOR);
    }
}
