package sluice.fault;

import java.io.IOException;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.platform.commons.support.AnnotationSupport;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.engine.support.descriptor.ClassSource;
import org.junit.platform.engine.support.descriptor.MethodSource;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.TestPlan;

/// Notes how each marked test ends. The build stops after a module with a failed test, so then the table is printed at once.
public final class FaultListener implements TestExecutionListener {
    /// Names the file of notes; without it nothing is noted.
    static final String FILE = "sluice.faults";
    private static final double NANOS = 1e9;

    private final Optional<Path> file;
    private final PrintStream out;
    private final Map<String, Long> began = new ConcurrentHashMap<>();
    private volatile boolean failed;

    public FaultListener() {
        this(Optional.ofNullable(System.getProperty(FILE)).map(Path::of), System.out);
    }

    FaultListener(Optional<Path> file, PrintStream out) {
        this.file = file;
        this.out = out;
    }

    @Override
    public void executionStarted(TestIdentifier test) {
        began.put(test.getUniqueId(), System.nanoTime());
    }

    @Override
    public void executionSkipped(TestIdentifier test, String reason) {
        note(test, FaultNote.Result.SKIPPED);
    }

    /// Of a class only what its tests do not tell themselves: that none of them ran.
    @Override
    public void executionFinished(TestIdentifier test, TestExecutionResult result) {
        if (test.isTest() || result.getStatus() != TestExecutionResult.Status.SUCCESSFUL) {
            note(test, switch (result.getStatus()) {
                case SUCCESSFUL -> FaultNote.Result.HELD;
                case ABORTED -> FaultNote.Result.SKIPPED;
                case FAILED -> FaultNote.Result.FAILED;
            });
        }
    }

    @Override
    public void testPlanExecutionFinished(TestPlan plan) {
        if (failed) {
            file.ifPresent(notes -> out.println(FaultTable.read(notes)));
        }
    }

    private void note(TestIdentifier test, FaultNote.Result result) {
        Long start = began.remove(test.getUniqueId());
        double seconds = start == null ? 0 : (System.nanoTime() - start) / NANOS;
        file.ifPresent(notes -> mark(test).ifPresent(fault -> {
            failed |= result == FaultNote.Result.FAILED;
            try {
                new FaultNote(fault.kind(), fault.of(), result, seconds, name(test)).append(notes);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }));
    }

    private static Optional<Fault> mark(TestIdentifier test) {
        return switch (test.getSource().orElse(null)) {
            case MethodSource source -> AnnotationSupport.findAnnotation(source.getJavaMethod(), Fault.class)
                    .or(() -> AnnotationSupport.findAnnotation(source.getJavaClass(), Fault.class));
            case ClassSource source -> AnnotationSupport.findAnnotation(source.getJavaClass(), Fault.class);
            case null, default -> Optional.empty();
        };
    }

    private static String name(TestIdentifier test) {
        return switch (test.getSource().orElse(null)) {
            case MethodSource source -> source.getJavaClass().getSimpleName() + "." + source.getMethodName();
            case ClassSource source -> source.getJavaClass().getSimpleName();
            case null, default -> test.getDisplayName();
        };
    }
}
