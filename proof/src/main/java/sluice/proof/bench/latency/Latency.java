package sluice.proof.bench.latency;

import java.util.Arrays;
import java.util.List;
import sluice.proof.bench.compute.Witness;
import sluice.proof.facts.CheckFailed;
import sluice.proof.facts.Stamps;

/// How long the bursts of one run took, in nanoseconds.
record Latency(double p50, double p90, double p99, double most) {
    private static final int SETTLING = 50;

    /// Without those of the first second, or the first half of fewer.
    static Latency of(List<Long> responses) {
        if (responses.isEmpty()) {
            throw new CheckFailed("no burst came to its end");
        }
        List<Long> sorted = settled(responses).stream().sorted().toList();
        return new Latency(at(sorted, 0.5), at(sorted, 0.9), at(sorted, 0.99), sorted.getLast());
    }

    static List<Long> settled(List<Long> responses) {
        return responses.subList(Math.min(responses.size() / 2, SETTLING), responses.size());
    }

    private static double at(List<Long> sorted, double part) {
        return sorted.get((int) Math.min(sorted.size() - 1, Math.floor(part * sorted.size())));
    }

    /// Kernels in a second, between two moments. One that lies there in part counts with that part.
    static double speed(List<Witness> witnesses, long from, long to) {
        double kernels = 0;
        for (Witness witness : witnesses) {
            Stamps stamps = witness.stamps();
            for (int i = 0; i < stamps.count(); i++) {
                long inside = Math.min(stamps.ends()[i], to) - Math.max(stamps.begins()[i], from);
                kernels += inside <= 0 ? 0 : (double) inside / (stamps.ends()[i] - stamps.begins()[i]);
            }
        }
        return kernels * 1e9 / (to - from);
    }

    /// The median time of a kernel that nothing interrupts, in nanoseconds.
    static double kernelNanos(Witness alone) {
        Stamps stamps = alone.stamps();
        long[] lengths = new long[stamps.count()];
        for (int i = 0; i < lengths.length; i++) {
            lengths[i] = stamps.ends()[i] - stamps.begins()[i];
        }
        Arrays.sort(lengths);
        return lengths.length == 0 ? 0 : lengths[lengths.length / 2];
    }
}
