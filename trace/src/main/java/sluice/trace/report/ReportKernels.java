package sluice.trace.report;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import sluice.trace.read.TraceEvent;

/// Adds up launches of kernels, and their GPU time.
///
/// The library measures single launches. For some it knows only an upper bound, because they may have waited for other streams. Kernels
/// together take no more than the busy time of the GPU, unless some run at the same time. So uncertain times are cut to the rest of
/// the busy time.
final class ReportKernels {
    private static final int NAMES = 5000;
    private static final int STREAMS = 2;
    /// Times whose sum exceeds the busy time by more than this are measured; a smaller excess is rounding.
    private static final double BESIDE = 1.05;

    private final Map<String, Launches> launches = new HashMap<>();
    private final Map<Shape, Learnt> learnt = new LinkedHashMap<>();
    private final Map<Integer, Set<Long>> streams = new HashMap<>();

    private record Shape(int gpu, String name, long blocks, long threads) {}

    private static final class Launches {
        long count;
        long hostNanos;
        TraceEvent.Kernel last;
    }

    /// Of one kernel in one size: measured alone, or bounded.
    private static final class Learnt {
        long launches;
        long alone;
        double aloneNanos;
        double leastNanos;
        double mostNanos;
        double boundNanos = Double.MAX_VALUE;
        double scale = 1;

        boolean isMeasured() {
            return alone > 0;
        }

        double each() {
            return scale * (isMeasured() ? aloneNanos / alone : boundNanos);
        }

        double total() {
            return each() * launches;
        }

        double least() {
            return isMeasured() ? Math.min(each(), leastNanos / alone) : 0;
        }

        double most() {
            return isMeasured() ? mostNanos / alone : boundNanos;
        }
    }

    void launch(TraceEvent.Kernel kernel) {
        Launches sum = launches.get(kernel.name());
        if (sum == null) {
            sum = launches.computeIfAbsent(bounded(kernel.name(), launches.size()), key -> new Launches());
        }
        sum.count++;
        sum.hostNanos += kernel.nanos();
        sum.last = kernel;
        Set<Long> seen = streams.computeIfAbsent(kernel.gpu(), gpu -> new HashSet<>());
        if (seen.size() < STREAMS) {
            boolean own = kernel.stream() == 2 || kernel.stream() == 0 && kernel.function().endsWith("_ptsz");
            seen.add(((long) kernel.pid() << 32 | (own ? kernel.tid() : 0)) * 31 + kernel.stream());
        }
    }

    void cost(TraceEvent.Cost cost) {
        Shape shape = new Shape(cost.gpu(), cost.name(), cost.blocks(), cost.threads());
        if (!learnt.containsKey(shape) && learnt.size() >= NAMES) {
            shape = new Shape(cost.gpu(), ReportSums.OTHERS, 0, 0);
        }
        Learnt sum = learnt.computeIfAbsent(shape, key -> new Learnt());
        sum.launches += cost.launches();
        if (cost.measured().alone() && cost.launches() > 0) {
            sum.alone += cost.launches();
            sum.aloneNanos += (double) cost.nanosPerLaunch() * cost.launches();
            sum.leastNanos += (double) cost.leastNanos() * cost.launches();
            sum.mostNanos += (double) cost.mostNanos() * cost.launches();
        } else if (cost.nanosPerLaunch() > 0) {
            sum.boundNanos = Math.min(sum.boundNanos, cost.nanosPerLaunch());
        }
    }

    private static String bounded(String name, int size) {
        return size < NAMES ? name : ReportSums.OTHERS;
    }

    /// Fits the times on one GPU to its busy time; returns their sum.
    long fit(int gpu, long busyNanos) {
        learnt.values().removeIf(sum -> !sum.isMeasured() && sum.boundNanos == Double.MAX_VALUE);
        List<Learnt> here = learnt.entrySet().stream().filter(entry -> entry.getKey().gpu == gpu).map(Map.Entry::getValue).toList();
        double measured = here.stream().filter(Learnt::isMeasured).mapToDouble(Learnt::total).sum();
        double bounded = here.stream().filter(sum -> !sum.isMeasured()).mapToDouble(Learnt::total).sum();
        if (busyNanos > 0 && measured + bounded > busyNanos) {
            double part = Math.max((busyNanos - measured) / Math.max(1, bounded), busyNanos / (measured + bounded));
            here.stream().filter(sum -> !sum.isMeasured()).forEach(sum -> sum.scale = Math.min(1, part));
        }
        double sum = here.stream().mapToDouble(Learnt::total).sum();
        boolean beside = streams.getOrDefault(gpu, Set.of()).size() >= STREAMS && sum > BESIDE * busyNanos;
        if (busyNanos > 0 && sum > busyNanos && !beside) {
            here.forEach(each -> each.scale *= busyNanos / sum);
        }
        return (long) here.stream().mapToDouble(Learnt::total).sum();
    }

    List<ReportData.Kernel> rows() {
        Map<String, List<Learnt>> byName = new HashMap<>();
        learnt.forEach((shape, sum) -> byName.computeIfAbsent(launches.containsKey(shape.name) ? shape.name : ReportSums.OTHERS, key -> new ArrayList<>()).add(sum));
        Set<String> names = new HashSet<>(launches.keySet());
        names.addAll(byName.keySet());
        return names.stream()
                .map(name -> row(name, launches.getOrDefault(name, new Launches()), byName.getOrDefault(name, List.of())))
                .sorted(Comparator.comparingLong(ReportData.Kernel::gpuNanos).thenComparingLong(ReportData.Kernel::launches).reversed()
                        .thenComparing(ReportData.Kernel::name))
                .toList();
    }

    private static ReportData.Kernel row(String name, Launches sum, List<Learnt> parts) {
        String shape = sum.last == null ? "" : sum.last.grid() + " × " + sum.last.block();
        double total = parts.stream().mapToDouble(Learnt::total).sum();
        double least = parts.stream().mapToDouble(part -> part.least() * part.launches).sum();
        double most = parts.stream().mapToDouble(part -> Math.max(part.each(), part.most()) * part.launches).sum();
        long count = Math.max(1, parts.stream().mapToLong(part -> part.launches).sum());
        return new ReportData.Kernel(name, sum.count, (long) total, (long) (total / count), (long) (least / count), (long) (most / count),
                sum.hostNanos, shape);
    }
}
