package sluice.proof.bench.latency;

import java.util.Collections;
import java.util.List;
import java.util.stream.Stream;
import sluice.proof.bench.compute.ComputeRun.Part;
import sluice.proof.facts.Load;

/// Tenants that keep the GPU busy beside the bursts, all in the same way.
record Others(Load load, int count) {
    static final List<Others> ALL = Stream.of(1_000_000L, 5_000_000L, 50_000_000L)
            .flatMap(nanos -> Stream.of(1, 2, 4).map(count -> new Others(new Load(Load.Kind.LAUNCHES, nanos), count))).toList();

    List<Part> parts(Way way) {
        return Collections.nCopies(count, new Part(way.others(), load));
    }

    String text() {
        return count + (count == 1 ? " tenant" : " tenants") + " with kernels of " + load.kernelNanos() / 1_000_000 + " ms";
    }
}
