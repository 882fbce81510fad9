package sluice.proof.stage;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import sluice.proof.facts.CheckFailed;

/// NVIDIA's own sharing of one context, with a daemon of its own: only processes with [#settings] use it.
public final class Mps implements AutoCloseable {
    private static final String PROGRAM = "nvidia-cuda-mps-control";
    private static final Path FOLDER = Path.of(System.getProperty("java.io.tmpdir"), "sluice-mps-" + ProcessHandle.current().pid());
    private static final long PATIENCE_SECONDS = 15;

    private final Thread atEnd = new Thread(this::stop);

    private Mps() {}

    /// Why there is none; empty if it can be tried.
    public static Optional<String> obstacle(Environment environment) {
        if (environment.simulated()) {
            return Optional.of("the simulated GPU has no MPS");
        }
        boolean there = Stream.of(System.getenv().getOrDefault("PATH", "").split(File.pathSeparator))
                .anyMatch(folder -> Files.isExecutable(Path.of(folder, PROGRAM)));
        return there ? Optional.empty() : Optional.of(PROGRAM + " is not on the PATH");
    }

    /// For a client. MPS knows two priorities: 0 is normal, 1 is below.
    public static Map<String, String> settings(int priority) {
        return Map.of("CUDA_MPS_PIPE_DIRECTORY", FOLDER.toString(), "CUDA_MPS_LOG_DIRECTORY", FOLDER.toString(), "CUDA_MPS_CLIENT_PRIORITY", String.valueOf(priority));
    }

    /// Starts the daemon. It stops with this process at the latest.
    public static Mps begin() {
        Mps mps = new Mps();
        try {
            Files.createDirectories(FOLDER);
            Runtime.getRuntime().addShutdownHook(mps.atEnd);
            int status = call("", "-d");
            if (status != 0) {
                throw new CheckFailed(PROGRAM + " -d ended with " + status);
            }
            return mps;
        } catch (IOException | CheckFailed failed) {
            mps.close();
            throw new CheckFailed("MPS does not start: " + failed.getMessage());
        }
    }

    private static int call(String input, String... arguments) throws IOException {
        ProcessBuilder builder = new ProcessBuilder(Stream.concat(Stream.of(PROGRAM), Stream.of(arguments)).toList()).redirectErrorStream(true)
                .redirectOutput(FOLDER.resolve("control.out").toFile());
        builder.environment().putAll(settings(0));
        Process process = builder.start();
        try (var commands = process.outputWriter()) {
            commands.write(input);
        } catch (IOException gone) {
            // It has ended: its status tells.
        }
        try {
            if (process.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS)) {
                return process.exitValue();
            }
        } catch (InterruptedException woken) {
            Thread.currentThread().interrupt();
        }
        process.destroyForcibly();
        throw new CheckFailed(PROGRAM + " does not answer");
    }

    private void stop() {
        if (!Files.exists(FOLDER)) {
            return;
        }
        try {
            call("quit -t 3\n");
        } catch (IOException | CheckFailed failed) {
            System.err.println("sluice: the daemon of MPS may still run: " + failed.getMessage());
        }
        try (Stream<Path> files = Files.walk(FOLDER)) {
            files.sorted(Comparator.reverseOrder()).forEach(file -> file.toFile().delete());
        } catch (IOException changing) {
            // It is a folder for temporary files.
        }
    }

    @Override
    public void close() {
        stop();
        try {
            Runtime.getRuntime().removeShutdownHook(atEnd);
        } catch (IllegalStateException shuttingDown) {
            // It finds nothing to stop.
        }
    }
}
