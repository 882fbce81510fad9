package sluice.cli.tenants;

import java.io.PrintWriter;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import sluice.api.model.Operation;
import sluice.api.pause.FollowedOperation;
import sluice.cli.output.Progress;
import sluice.cli.tables.OperationText;

/// Waits for a pause or a resume. After two seconds it shows the progress: repeatedly on a terminal, otherwise once.
final class OperationWait {
    private static final long QUIET_NANOS = 2_000_000_000L;
    private static final long APART_NANOS = 20_000_000L;

    private final FollowedOperation operation;
    private final Duration timeout;
    private final BooleanSupplier interrupted;
    private final Progress progress;
    private final PrintWriter err;
    private final long beganNanos = System.nanoTime();
    private boolean told;

    /// @param timeout null: none
    OperationWait(FollowedOperation operation, Duration timeout, BooleanSupplier interrupted, Progress progress, PrintWriter err) {
        this.operation = operation;
        this.timeout = timeout;
        this.interrupted = interrupted;
        this.progress = progress;
        this.err = err;
    }

    /// @return its result; or that it runs, if Ctrl-C or the timeout ended the wait for a resume
    Operation last() {
        Operation now = operation.look();
        while (now.runs()) {
            if (interrupted.getAsBoolean()) {
                return operation.withdraw();
            }
            if (timeout != null && !now.kind().isPause() && System.nanoTime() - beganNanos > timeout.toNanos()) {
                return now;
            }
            if (System.nanoTime() - beganNanos > QUIET_NANOS) {
                show(now);
            }
            LockSupport.parkNanos(APART_NANOS);
            now = operation.look();
        }
        return now;
    }

    private void show(Operation now) {
        String text = OperationText.progress(now, System.currentTimeMillis() * 1_000_000);
        if (progress.isSeen()) {
            progress.step(text);
        } else if (!told) {
            err.println(text);
            told = true;
        }
    }
}
