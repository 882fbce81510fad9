package sluice.proof.bench.compute;

import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.IntFunction;
import java.util.stream.IntStream;
import sluice.proof.bench.compute.ComputeRun.Part;
import sluice.proof.facts.CheckFailed;
import sluice.proof.stage.ProbeProcess;
import sluice.proof.stage.Stage;

/// The processes of a step, on a stage of their own. So they can start while those of another step still work.
final class Cast implements AutoCloseable {
    private final Stage stage;
    private final List<Part> parts;
    private final double seconds;
    private final Path launcher;
    private List<ProbeProcess> probes;
    private List<Worker> workers;

    Cast(ComputeRun run, Step step) {
        stage = new Stage(run.environment());
        parts = step.parts();
        seconds = step.seconds();
        launcher = run.options().launcher();
    }

    /// Starts the processes; they do not touch the GPU yet.
    synchronized void start() {
        if (probes == null) {
            probes = all(i -> stage.launchBusy(parts.get(i).terms(), launcher));
        }
    }

    /// Contexts and memory for stamps.
    synchronized void prepare() {
        start();
        if (workers == null) {
            workers = all(i -> new Worker(stage, stage.opened(probes.get(i), parts.get(i).terms()), parts.get(i).load(), seconds(parts.get(i))));
        }
    }

    /// When no other process is on the GPU any more: compares its clock with the host's.
    synchronized List<Worker> ready() {
        prepare();
        workers.forEach(Worker::calibrate);
        return workers;
    }

    private double seconds(Part part) {
        return part.seconds() > 0 ? part.seconds() : seconds;
    }

    private <T> List<T> all(IntFunction<T> one) {
        try (ExecutorService each = Executors.newVirtualThreadPerTaskExecutor()) {
            List<Future<T>> results = IntStream.range(0, parts.size()).mapToObj(i -> each.submit(() -> one.apply(i))).toList();
            return results.stream().map(Cast::result).toList();
        }
    }

    private static <T> T result(Future<T> future) {
        try {
            return future.get();
        } catch (ExecutionException failed) {
            if (failed.getCause() instanceof CheckFailed known) {
                throw known;
            }
            throw new CompletionException(failed.getCause());
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            throw new CheckFailed("interrupted");
        }
    }

    @Override
    public void close() {
        stage.close();
    }
}
