package sluice.proof.bench.compute;

import java.util.Arrays;
import java.util.List;
import sluice.proof.facts.Stamps;

/// How the GPU changed from tenant to tenant, by the stamps of all tenants.
///
/// @param gaps  from the end of one tenant's last work to the begin of the next one's first, sorted; below 0 they overlapped
/// @param turns how often each tenant got the GPU
@SuppressWarnings("exports")
public record HandOvers(long[] gaps, int[] turns) {

    /// While all of them wanted the GPU, after the first second.
    static HandOvers settled(List<Witness> tenants) {
        long from = tenants.stream().mapToLong(Witness::settled).max().orElseThrow();
        long to = tenants.stream().mapToLong(Witness::ended).min().orElseThrow();
        return of(tenants.stream().map(tenant -> tenant.stamps().between(from, to)).toList());
    }

    public static HandOvers of(List<Stamps> tenants) {
        int[] next = new int[tenants.size()];
        int[] turns = new int[tenants.size()];
        long[] gaps = new long[tenants.stream().mapToInt(Stamps::count).sum()];
        int count = 0;
        int before = -1;
        long end = 0;
        for (int owner = first(tenants, next); owner >= 0; owner = first(tenants, next)) {
            Stamps stamps = tenants.get(owner);
            if (owner != before) {
                turns[owner]++;
                if (before >= 0) {
                    gaps[count++] = stamps.begins()[next[owner]] - end;
                }
            }
            end = before == owner ? Math.max(end, stamps.ends()[next[owner]]) : stamps.ends()[next[owner]];
            before = owner;
            next[owner]++;
        }
        long[] sorted = Arrays.copyOf(gaps, count);
        Arrays.sort(sorted);
        return new HandOvers(sorted, turns);
    }

    public int count() {
        return gaps.length;
    }

    /// The gap that this part of all gaps does not exceed.
    public long gap(double part) {
        return gaps.length == 0 ? 0 : gaps[(int) Math.min(gaps.length - 1, Math.floor(part * gaps.length))];
    }

    /// The tenant whose next stamp is the earliest; -1: there are no more stamps.
    private static int first(List<Stamps> tenants, int[] next) {
        int first = -1;
        for (int i = 0; i < next.length; i++) {
            Stamps stamps = tenants.get(i);
            if (next[i] < stamps.count()
                    && (first < 0 || stamps.begins()[next[i]] < tenants.get(first).begins()[next[first]])) {
                first = i;
            }
        }
        return first;
    }
}
