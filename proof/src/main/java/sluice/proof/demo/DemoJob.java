package sluice.proof.demo;

import sluice.cuda.Status;
import sluice.proof.stage.ProbeProcess;
import sluice.proof.stage.Stage;
import sluice.proof.stage.TestTenant;

/// One of the demo's jobs: a process that asks for the same amount of memory again and again until it is refused.
final class DemoJob {
    final String name;
    final TestTenant tenant;
    private final ProbeProcess probe;
    private final long stepBytes;
    private int steps;
    private int refusal = Status.SUCCESS;

    DemoJob(Stage stage, String name, long quotaBytes, long stepBytes) {
        this.name = name;
        this.stepBytes = stepBytes;
        tenant = TestTenant.create(stage.runtimeDirectory(), name, quotaBytes);
        probe = stage.in(tenant);
    }

    boolean stopped() {
        return refusal != Status.SUCCESS;
    }

    void step() {
        if (stopped()) {
            return;
        }
        int status = probe.alloc(stepBytes).status();
        if (status == Status.SUCCESS) {
            steps++;
        } else {
            refusal = status;
        }
    }

    long usedBytes() {
        return tenant.chargedBytes();
    }

    int steps() {
        return steps;
    }

    int refusal() {
        return refusal;
    }

    /// Stopped by the quota, with everything of it in use that whole steps can use.
    boolean asItShouldBe() {
        return refusal == Status.OUT_OF_MEMORY
                && usedBytes() <= tenant.quotaBytes()
                && usedBytes() + stepBytes > tenant.quotaBytes();
    }
}
