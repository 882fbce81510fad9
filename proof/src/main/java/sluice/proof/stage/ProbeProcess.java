package sluice.proof.stage;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import sluice.cuda.CallResult;
import sluice.proof.facts.CheckFailed;
import sluice.proof.facts.Expect;
import sluice.proof.facts.Facts;

/// A running probe, seen from the process that started it.
@SuppressWarnings("exports")
public final class ProbeProcess implements AutoCloseable {
    private static final long PATIENCE_SECONDS = 60;

    private final Process process;
    private final Path errors;
    private final Writer commands;
    private final BlockingQueue<String> answers = new LinkedBlockingQueue<>();

    private ProbeProcess(Process process, Path errors) {
        this.process = process;
        this.errors = errors;
        commands = process.outputWriter();
        Thread.ofVirtual().start(() -> collect(process.inputReader()));
    }

    /// Starts a probe with exactly this environment, and waits for its first line.
    static ProbeProcess start(List<String> command, Map<String, String> environment, Path errors) {
        ProcessBuilder builder = new ProcessBuilder(command).redirectError(errors.toFile());
        builder.environment().clear();
        builder.environment().putAll(environment);
        try {
            ProbeProcess probe = new ProbeProcess(builder.start(), errors);
            try {
                probe.answer("start");
            } catch (CheckFailed failed) {
                probe.kill();
                throw failed;
            }
            return probe;
        } catch (IOException failed) {
            throw new CheckFailed("cannot start a probe: " + failed.getMessage());
        }
    }

    public Facts ask(String command, Object... arguments) {
        tell(command, arguments);
        return answer(command);
    }

    /// Sends a command without waiting; [#answer] waits.
    public void tell(String command, Object... arguments) {
        String line = Stream.concat(Stream.of(command), Stream.of(arguments).map(Object::toString))
                .collect(Collectors.joining(" "));
        try {
            commands.write(line + "\n");
            commands.flush();
        } catch (IOException gone) {
            throw new CheckFailed("the probe is gone before '" + line + "'" + lastError());
        }
    }

    public Facts answer(String command) {
        try {
            String line = answers.poll(PATIENCE_SECONDS, TimeUnit.SECONDS);
            if (line == null) {
                throw new CheckFailed("no answer to '" + command + "' within " + PATIENCE_SECONDS + " s");
            }
            if (line.isEmpty()) {
                throw new CheckFailed("the probe died in '" + command + "'" + lastError());
            }
            Facts facts = Facts.parse(line);
            if (facts.has("error")) {
                throw new CheckFailed("'" + command + "' failed: " + facts.text("error"));
            }
            return facts;
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            throw new CheckFailed("interrupted in '" + command + "'");
        }
    }

    /// Whether an answer, or the end, is there to be read.
    public boolean hasAnswer() {
        return !answers.isEmpty();
    }

    public CallResult alloc(long bytes) {
        Facts facts = ask("alloc", bytes);
        return new CallResult(facts.status(), facts.number("pointer"));
    }

    public int free(long pointer) {
        return ask("free", pointer).status();
    }

    /// SIGKILL: the process can do nothing about it.
    public void kill() {
        process.destroyForcibly();
        process.onExit().join();
    }

    public void awaitDeath() {
        try {
            Expect.that(process.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS), "the probe lives although it should have died");
        } catch (InterruptedException interrupted) {
            throw new CheckFailed("interrupted");
        }
    }

    public long pid() {
        return process.pid();
    }

    /// Whether a file is part of the running program.
    public boolean maps(Path file) {
        try {
            return Files.readString(Path.of("/proc/" + pid() + "/maps")).contains(file.toRealPath().toString());
        } catch (IOException gone) {
            throw new CheckFailed("the probe is gone: " + gone.getMessage());
        }
    }

    /// What the process wrote to stderr.
    public List<String> stderr() {
        try {
            return Files.readAllLines(errors);
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        }
    }

    @Override
    public void close() {
        kill();
    }

    private String lastError() {
        List<String> lines = stderr();
        return lines.isEmpty() ? "" : ": " + lines.getLast();
    }

    /// An empty line stands for the end.
    private void collect(BufferedReader output) {
        try (output) {
            output.lines().filter(line -> !line.isEmpty()).forEach(answers::add);
        } catch (IOException | UncheckedIOException closed) {
            // The end, too.
        }
        answers.add("");
    }
}
