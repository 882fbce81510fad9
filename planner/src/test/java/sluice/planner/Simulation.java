package sluice.planner;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.LongConsumer;

/// One GPU, virtual tenants that take turns on it by the rules of the libraries, and a planner that looks every 100 ms.
///
/// The rules are those of `native/src/turns/turn.c`. The turn goes to the highest waiting priority, and in it to the next tenant in the
/// circle whose balance allows it. If a waiting tenant is exclusive, the turn goes to the one that has waited longest. If only lower
/// priorities wait, the holder has another turn. An overrun is taken off the next turns. A holder without work for 200 µs loses the turn to
/// a waiting tenant. A higher priority takes the turn after the running kernel. The tenant that lost it goes on with the rest when its
/// priority is served again. A change of tenants takes 150 µs, which are no part of a turn.
final class Simulation {
    static final long MILLI = 1_000_000;
    static final long SECOND = 1_000_000_000;
    private static final long PLAN_PERIOD = 100 * MILLI;
    static final long SWITCH_NANOS = 150_000;
    private static final long GRACE_NANOS = 200_000;
    private static final int MOST_TURNS_OWED = 100;

    final List<VirtualTenant> tenants = new ArrayList<>();
    private final boolean planned;
    private Plan plan = Plan.NONE;
    private LongConsumer observer = now -> {};
    private long nowNanos;
    private long nextPlanNanos;
    private VirtualTenant holder;
    /// Where the circle of each priority stands.
    private final Map<Integer, Integer> lastOf = new HashMap<>();
    private long beganNanos;
    private long endsNanos;
    private long busyNanos;
    long handOvers;

    Simulation(boolean planned) {
        this.planned = planned;
    }

    VirtualTenant add() {
        VirtualTenant tenant = new VirtualTenant(tenants.size());
        tenants.add(tenant);
        return tenant;
    }

    /// Called with every plan.
    void observe(LongConsumer observer) {
        this.observer = observer;
    }

    long nowNanos() {
        return nowNanos;
    }

    void runUntil(long endNanos) {
        tenants.forEach(tenant -> tenant.readyNanos = Math.max(tenant.readyNanos, tenant.work.nextNanos(nowNanos, tenant.done)));
        while (nowNanos < endNanos) {
            if (nowNanos >= nextPlanNanos) {
                plan();
            }
            step();
        }
    }

    private void plan() {
        if (planned) {
            plan = plan.next(nowNanos, tenants.stream().map(tenant -> tenant.state(tenant == holder, beganNanos, nowNanos)).toList());
            tenants.forEach(tenant -> tenant.planNanos = plan.lengthNanos(tenant.id));
        }
        observer.accept(nowNanos);
        nextPlanNanos += PLAN_PERIOD;
    }

    private void step() {
        List<VirtualTenant> waiting = waiting();
        boolean holderWants = holder != null && holder.wantsFromNanos() <= nowNanos;
        if (holderWants && !mustGiveWay(waiting)) {
            run();
        } else if (!waiting.isEmpty() && (holder == null || holderWants || nowNanos >= busyNanos + GRACE_NANOS)) {
            passOn(waiting, holderWants);
        } else {
            sleep(waiting.isEmpty());
        }
    }

    private void run() {
        long began = nowNanos;
        busyNanos = began + holder.kernelNanos;
        while (nextPlanNanos < busyNanos) {
            nowNanos = Math.max(nowNanos, nextPlanNanos);
            plan();
        }
        nowNanos = busyNanos;
        holder.run(began);
    }

    private List<VirtualTenant> waiting() {
        List<VirtualTenant> waiting = new ArrayList<>();
        for (VirtualTenant tenant : tenants) {
            if (tenant != holder && tenant.wantsFromNanos() <= nowNanos) {
                waiting.add(tenant);
            }
        }
        return waiting;
    }

    private boolean mustGiveWay(List<VirtualTenant> waiting) {
        return !waiting.isEmpty() && (nowNanos >= endsNanos || hasSuperior(waiting));
    }

    private boolean hasSuperior(List<VirtualTenant> waiting) {
        return waiting.stream().anyMatch(other -> other.priority > holder.priority);
    }

    private void passOn(List<VirtualTenant> waiting, boolean holderWants) {
        if (holder != null) {
            holder.balanceNanos = balanceAfter(waiting, !holderWants);
            holder.heldNanos += nowNanos - beganNanos;
            holder.turns++;
            if (holderWants) {
                waiting.add(holder);
                waiting.sort(Comparator.comparingInt(tenant -> tenant.id));
            }
        }
        int highest = waiting.stream().mapToInt(tenant -> tenant.priority).max().orElseThrow();
        VirtualTenant next = choose(waiting.stream().filter(tenant -> tenant.priority == highest).toList());
        if (holder != null && next.priority > holder.priority && holder.balanceNanos > 0) {
            holder.balanceNanos -= holder.lengthNanos();
            lastOf.put(holder.priority, holder.id - 1);
        }
        lastOf.put(next.priority, next.id);
        next.waitedNanos += Math.max(0, nowNanos - next.wantsFromNanos());
        long change = next == holder ? 0 : SWITCH_NANOS;
        beganNanos = nowNanos;
        endsNanos = nowNanos + next.lengthNanos() + next.balanceNanos + change;
        next.balanceNanos = 0;
        nowNanos += change;
        handOvers += next == holder ? 0 : 1;
        busyNanos = nowNanos;
        holder = next;
    }

    /// Less than 0: the turn was too long. A tenant does not pay for time that no other tenant wanted. A tenant that had nothing to do has
    /// no claim.
    private long balanceAfter(List<VirtualTenant> waiting, boolean seized) {
        long length = holder.lengthNanos();
        long wanted = waiting.stream().mapToLong(VirtualTenant::wantsFromNanos).min().orElseThrow();
        long left = Math.max(wanted, endsNanos) - nowNanos;
        if (left > 0 && (seized || !hasSuperior(waiting) && left > length / 4)) {
            return 0;
        }
        return Math.max(left, -MOST_TURNS_OWED * length);
    }

    private VirtualTenant choose(List<VirtualTenant> equals) {
        if (equals.stream().anyMatch(tenant -> tenant.exclusive)) {
            VirtualTenant longest = equals.stream()
                    .min(Comparator.comparingLong(tenant -> tenant == holder ? nowNanos : tenant.wantsFromNanos()))
                    .orElseThrow();
            longest.balanceNanos = 0;
            return longest;
        }
        int last = lastOf.getOrDefault(equals.getFirst().priority, -1);
        int at = 0;
        while (at < equals.size() && equals.get(at).id <= last) {
            at++;
        }
        for (; ; at++) {
            VirtualTenant tenant = equals.get(at % equals.size());
            long length = tenant.lengthNanos();
            if (length + tenant.balanceNanos > length / 8) {
                return tenant;
            }
            tenant.balanceNanos += length;
        }
    }

    private void sleep(boolean nobodyWaits) {
        long until = nextPlanNanos;
        for (VirtualTenant tenant : tenants) {
            long from = tenant.wantsFromNanos();
            until = from > nowNanos ? Math.min(until, from) : until;
        }
        nowNanos = nobodyWaits ? until : Math.min(until, busyNanos + GRACE_NANOS);
    }
}
