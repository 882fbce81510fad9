package sluice.proof.bench.compute;

import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import sluice.proof.bench.compute.ComputeRun.Part;

/// One repeat of one row of a table: its tenants, and their work.
///
/// @param parts   a process for each, ready to go when the body runs; none if the body starts what it needs
/// @param seconds how long the body takes
/// @param wanted  asked when its time has come
@SuppressWarnings("exports")
public record Step(String row, int repeat, List<Part> parts, double seconds, BooleanSupplier wanted, Consumer<List<Worker>> body) {

    /// All at the same time, and what the GPU noted of each.
    public static Step together(String row, int repeat, List<Part> parts, double seconds, Consumer<List<Witness>> seen) {
        return new Step(row, repeat, parts, seconds, () -> true, workers -> {
            workers.forEach(Worker::go);
            seen.accept(workers.stream().map(Worker::witness).toList());
        });
    }

    public Step onlyIf(BooleanSupplier condition) {
        return new Step(row, repeat, parts, seconds, condition, body);
    }
}
