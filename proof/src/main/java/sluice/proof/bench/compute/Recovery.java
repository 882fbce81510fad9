package sluice.proof.bench.compute;

import sluice.proof.bench.PercentText;
import sluice.proof.bench.compute.ComputeRun.Part;
import sluice.proof.facts.CheckFailed;
import sluice.proof.facts.Expect;
import sluice.proof.facts.Load;
import sluice.proof.facts.Load.Kind;
import sluice.proof.stage.Terms;

/// A tenant is killed while it has the GPU for itself: how long until the waiting tenant goes on. The victim has long turns and the
/// survivor short ones, so that the victim has the turn when it is killed.
public final class Recovery {
    public static final double SECONDS = 3;
    private static final Load LOAD = new Load(Kind.LAUNCHES, 1_000_000);
    public static final Part VICTIM = new Part(Terms.exclusive("1s"), LOAD);
    public static final Part SURVIVOR = new Part(Terms.exclusive("10ms"), LOAD);
    private static final long KILL_AFTER_MILLIS = 1300;
    private static final double MOST_BEFORE = 0.25;

    private Recovery() {}

    public static long nanos(Worker victim, Worker survivor) {
        victim.calibrate();
        survivor.calibrate();
        victim.go();
        survivor.go();
        try {
            Thread.sleep(KILL_AFTER_MILLIS);
        } catch (InterruptedException interrupted) {
            throw new CheckFailed("interrupted");
        }
        long killed = System.nanoTime();
        victim.probe().kill();
        Witness witness = survivor.witness();
        long moment = killed + witness.clockOffset();
        double before = witness.busy().share(witness.began(), moment);
        Expect.that(before <= MOST_BEFORE, "the other had " + PercentText.format(before) + " of the GPU before: nobody held it");
        return firstAfter(witness, moment);
    }

    private static long firstAfter(Witness witness, long moment) {
        for (long begin : witness.stamps().begins()) {
            if (begin > moment) {
                return begin - moment;
            }
        }
        throw new CheckFailed("nothing ran any more after the holder was killed");
    }
}
