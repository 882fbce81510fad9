package sluice.proof.bench.compute;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import sluice.proof.facts.CheckFailed;
import sluice.proof.facts.Facts;
import sluice.proof.facts.Load;
import sluice.proof.stage.ProbeProcess;
import sluice.proof.stage.Stage;

/// A process that keeps the GPU busy for a while: started, prepared, then told to go.
@SuppressWarnings("exports")
public final class Worker {
    private static final String COMMAND = "load";
    private static final long UPLOAD_BYTES = 16L << 20;
    /// An H200 copies so much of its own memory in about 35 µs, which is more than the three calls take.
    private static final long COPY_BYTES = 64L << 20;
    private static final long SIMULATED_COPY_BYTES = 1L << 20;

    private final Stage stage;
    private final ProbeProcess probe;
    private final Load load;
    private final Path file;

    /// @param probe with a context
    public Worker(Stage stage, ProbeProcess probe, Load load, double seconds) {
        this.stage = stage;
        this.probe = probe;
        this.load = load;
        file = stage.file("stamps");
        probe.ask(COMMAND, "prepare", load.words(), Math.round(seconds * 1000),
                stage.environment().simulated() ? SIMULATED_COPY_BYTES : load.kind() == Load.Kind.COPIES ? COPY_BYTES : UPLOAD_BYTES);
    }

    /// Compares the GPU's clock with the host's, which is most exact while no process uses the GPU.
    public Worker calibrate() {
        probe.ask(COMMAND, "calibrate");
        return this;
    }

    public Worker go() {
        probe.tell(COMMAND, "go", file);
        return this;
    }

    /// Waits for the end, and ends the process.
    public Witness witness() {
        Facts facts = probe.answer(COMMAND);
        probe.kill();
        stage.forget(probe);
        try {
            Witness witness = Witness.read(load, facts, file);
            Files.delete(file);
            return witness;
        } catch (IOException failed) {
            throw new CheckFailed("cannot read the stamps of a load: " + failed.getMessage());
        }
    }

    ProbeProcess probe() {
        return probe;
    }
}
