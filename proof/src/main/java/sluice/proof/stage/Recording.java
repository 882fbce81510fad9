package sluice.proof.stage;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import sluice.proof.facts.CheckFailed;
import sluice.proof.facts.Expect;
import sluice.region.place.RuntimeDirectory;

/// `sluice trace` beside a probe: the library writes to rings in memory, and another process empties them.
public final class Recording implements AutoCloseable {
    private static final long PATIENCE_SECONDS = 20;
    private static final String LONGEST = "10m";
    private static final String RINGS = "trace-";
    private static final String NONE_LOST = "none dropped";

    private final Process process;
    private final Path folder;
    private final Path output;

    public Recording(Stage stage, Path launcher, ProbeProcess probe) {
        folder = stage.runtimeDirectory().path();
        output = stage.file("recording");
        ProcessBuilder builder = new ProcessBuilder(List.of(launcher.toString(), "trace", String.valueOf(probe.pid()), "--for", LONGEST,
                "--out", stage.file("recorded").toString())).redirectErrorStream(true).redirectOutput(output.toFile());
        builder.environment().clear();
        builder.environment().putAll(stage.plainSettings());
        builder.environment().put(RuntimeDirectory.VARIABLE, folder.toString());
        try {
            process = builder.start();
        } catch (IOException failed) {
            throw new CheckFailed("cannot start " + launcher + " trace: " + failed.getMessage());
        }
    }

    /// Lets the probe make calls until one of its rings is there.
    public void awaitRings(Runnable calls) {
        long until = System.nanoTime() + TimeUnit.SECONDS.toNanos(PATIENCE_SECONDS);
        while (!hasRings()) {
            Expect.that(process.isAlive() && System.nanoTime() < until, "sluice trace records nothing: " + said());
            calls.run();
        }
    }

    private boolean hasRings() {
        try (Stream<Path> found = Files.list(folder)) {
            return found.filter(path -> path.getFileName().toString().startsWith(RINGS)).anyMatch(path -> path.toFile().list().length > 0);
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        }
    }

    /// After the end of the probe, which ends the recording. Fails if events were dropped, because these cost less than recorded ones.
    public void expectAll() {
        try {
            Expect.that(process.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS), "sluice trace goes on although the tenant has ended");
        } catch (InterruptedException interrupted) {
            throw new CheckFailed("interrupted");
        }
        Expect.that(said().contains(NONE_LOST), "sluice trace did not record everything: " + said());
    }

    private String said() {
        try {
            return Files.readAllLines(output).stream().findFirst().orElse("nothing").replaceFirst(".*: ", "");
        } catch (IOException unreadable) {
            return unreadable.getMessage();
        }
    }

    @Override
    public void close() {
        process.destroyForcibly();
        process.onExit().join();
    }
}
