package sluice.proof.bench.latency;

import java.util.Collections;
import java.util.List;
import java.util.stream.Stream;
import sluice.proof.bench.compute.ComputeRun.Part;
import sluice.proof.facts.Load;

/// Tenants that keep the GPU busy beside the bursts, all in the same way.
record Others(Load load, int count) {
    private static final List<Load> LOADS = List.of(new Load(Load.Kind.LAUNCHES, 1_000_000), new Load(Load.Kind.LAUNCHES, 5_000_000),
            new Load(Load.Kind.LAUNCHES, 50_000_000), new Load(Load.Kind.GRAPH, 50_000));
    static final List<Others> ALL = LOADS.stream().flatMap(load -> Stream.of(1, 2, 4).map(count -> new Others(load, count))).toList();

    List<Part> parts(Way way) {
        return Collections.nCopies(count, new Part(way.others(), load));
    }

    String text() {
        String work = load.kind() == Load.Kind.GRAPH
                ? "graphs of " + Load.GRAPH_KERNELS + " × " + load.kernelNanos() / 1000 + " µs"
                : "kernels of " + load.kernelNanos() / 1_000_000 + " ms";
        return count + (count == 1 ? " tenant" : " tenants") + " with " + work;
    }
}
