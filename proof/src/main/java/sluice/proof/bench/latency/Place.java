package sluice.proof.bench.latency;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import sluice.proof.bench.compute.ComputeRun.Part;
import sluice.proof.facts.Load;

/// One row of the table: the bursts, the other tenants, and how they share the GPU.
record Place(Load bursts, Others others, Way way) {
    static final List<Load> BURSTS = List.of(new Load(Load.Kind.TENS, 100_000), new Load(Load.Kind.SINGLES, 2_000_000));
    static final List<Place> ALL = BURSTS.stream().flatMap(bursts -> Others.ALL.stream()
            .flatMap(others -> Stream.of(Way.values()).map(way -> new Place(bursts, others, way)))).toList();

    static String text(Load bursts) {
        String time = bursts.kernelNanos() < 1_000_000 ? bursts.kernelNanos() / 1000 + " µs" : bursts.kernelNanos() / 1_000_000 + " ms";
        return bursts.kind().burstKernels() + " × " + time;
    }

    String text() {
        return text(bursts) + " beside " + others.text() + ", " + way.text();
    }

    List<Part> parts() {
        List<Part> parts = new ArrayList<>(List.of(new Part(way.bursts(), bursts)));
        parts.addAll(others.parts(way));
        return parts;
    }

    /// The same tenants without the bursts.
    Beside beside() {
        return new Beside(others, way);
    }

    record Beside(Others others, Way way) {
        String text() {
            return "no bursts, " + others.text() + ", " + way.text();
        }
    }
}
