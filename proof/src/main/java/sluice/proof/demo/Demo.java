package sluice.proof.demo;

import static sluice.proof.stage.Stage.GIB;
import static sluice.proof.stage.Stage.MIB;

import java.io.PrintStream;
import java.util.List;
import sluice.cuda.Status;
import sluice.proof.facts.CheckFailed;
import sluice.proof.stage.Environment;
import sluice.proof.stage.Environment.GpuDescription;
import sluice.proof.stage.Interruption;
import sluice.proof.stage.ProbeProcess;
import sluice.proof.stage.Stage;
import sluice.region.limits.Size;
import sluice.region.place.SluiceException;

/// Two jobs with different quotas on one GPU: how their memory grows, and where each is stopped.
public final class Demo {
    private static final long STEP_BYTES = 128 * MIB;
    private static final long STEP_MILLIS = 250;

    private Demo() {}

    /// Runs to the end, in a few seconds; returns whether the outcome was right.
    ///
    /// @param redraw whether `out` is a terminal on which bars can be drawn in place
    public static boolean run(Environment environment, PrintStream out, boolean redraw) {
        GpuDescription gpu = environment.gpu().orElseThrow(() -> new SluiceException(
                "no GPU that works is found; 'sluice doctor' says why, --sim uses the simulated GPU"));
        DemoScreen screen = new DemoScreen(out, redraw);
        screen.say(gpu.simulated()
                ? "The GPU of this demo is simulated (" + Size.format(gpu.totalBytes()) + "); no real GPU is used."
                : "GPU: " + gpu.name() + " (" + Size.format(gpu.totalBytes()) + ")");
        try (Stage stage = new Stage(environment)) {
            return play(stage, screen);
        } catch (CheckFailed failed) {
            Interruption.rethrow();
            throw new SluiceException("the demo broke off: " + failed.getMessage(), failed);
        }
    }

    private static boolean play(Stage stage, DemoScreen screen) {
        ProbeProcess outsider = stage.bare();
        List<DemoJob> jobs = List.of(
                new DemoJob(stage, "train", 2 * GIB, STEP_BYTES),
                new DemoJob(stage, "notebook", GIB, STEP_BYTES));
        screen.say("Two jobs share it: 'train' may use 2 GiB of its memory, 'notebook' 1 GiB.");
        screen.say("Each asks for 128 MiB more, again and again, until it is refused.");
        screen.say("");
        screen.show(jobs);
        while (!jobs.stream().allMatch(DemoJob::stopped)) {
            pause();
            jobs.forEach(DemoJob::step);
            screen.show(jobs);
        }
        screen.say("");
        explain(screen, jobs, outsider.ask("info").number("free"));
        return jobs.stream().allMatch(DemoJob::asItShouldBe);
    }

    private static void explain(DemoScreen screen, List<DemoJob> jobs, long freeBytes) {
        for (DemoJob job : jobs) {
            screen.say("'" + job.name + "' got " + Size.format(job.usedBytes()) + " in " + job.steps() + " steps; step "
                    + (job.steps() + 1) + " was refused with " + Status.name(job.refusal())
                    + (job.asItShouldBe() ? ", which is what a full GPU answers." : ". THIS IS NOT AS IT SHOULD BE."));
        }
        screen.say("The GPU itself has " + Size.format(freeBytes) + " free (asked from outside the jobs):"
                + " it was the quota that said no.");
        screen.say("The jobs are ordinary CUDA programs and know nothing of Sluice. Your own:");
        screen.say("  sluice run --memory 4g -- python train.py");
    }

    private static void pause() {
        try {
            Thread.sleep(STEP_MILLIS);
        } catch (InterruptedException interrupted) {
            throw new CheckFailed("interrupted");
        }
    }
}
