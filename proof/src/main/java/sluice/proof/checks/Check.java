package sluice.proof.checks;

import java.time.Duration;
import java.util.List;
import sluice.proof.checks.Result.Outcome;
import sluice.proof.facts.CheckFailed;
import sluice.proof.facts.CheckSkipped;
import sluice.proof.stage.Environment;
import sluice.proof.stage.Interruption;
import sluice.proof.stage.Stage;

/// One promise that must hold. It runs in processes of its own. It throws only if it was interrupted.
public final class Check {

    /// Says what it saw; throws CheckFailed or CheckSkipped.
    public interface Body {
        String run(Stage stage) throws Exception;
    }

    private final Group group;
    private final String name;
    private final Body body;
    private List<Subject> subjects = List.of();
    private boolean timed;

    public Check(Group group, String name, Body body) {
        this.group = group;
        this.name = name;
        this.body = body;
    }

    /// Sets the subject of the check, for the page that lists it.
    Check about(Subject... subjects) {
        this.subjects = List.of(subjects);
        return this;
    }

    /// Other work of the machine can disturb the check: it has failed only if it fails twice, or if a bound of safety was passed.
    public Check timed() {
        timed = true;
        return this;
    }

    public boolean isTimed() {
        return timed;
    }

    public List<Subject> subjects() {
        return subjects;
    }

    public Group group() {
        return group;
    }

    public String name() {
        return name;
    }

    public Result run(Environment environment) {
        Attempt first = unlessInterrupted(environment);
        return timed && first.isInDoubt() ? attempt(environment).after(first.result) : first.result;
    }

    /// Runs once, without a second attempt. Throws [sluice.proof.stage.Interrupted] if it was interrupted.
    public Result attempt(Environment environment) {
        return unlessInterrupted(environment).result;
    }

    private record Attempt(Result result, boolean passedBoundOfSafety) {

        boolean isInDoubt() {
            return result.outcome() != Outcome.PASSED && !passedBoundOfSafety;
        }
    }

    private Attempt unlessInterrupted(Environment environment) {
        Attempt attempt = once(environment);
        if (attempt.result.failed()) {
            Interruption.rethrow();
        }
        return attempt;
    }

    private Attempt once(Environment environment) {
        long start = System.nanoTime();
        try (Stage stage = new Stage(environment)) {
            return new Attempt(result(Outcome.PASSED, body.run(stage), start), false);
        } catch (CheckSkipped skipped) {
            return new Attempt(result(Outcome.SKIPPED, skipped.getMessage(), start), false);
        } catch (CheckFailed failed) {
            return new Attempt(result(Outcome.FAILED, failed.getMessage(), start), failed.isOfSafety());
        } catch (Exception unexpected) {
            return new Attempt(result(Outcome.FAILED, "unexpected: " + unexpected, start), false);
        }
    }

    private Result result(Outcome outcome, String detail, long start) {
        return new Result(group.word(), name, outcome, detail, Duration.ofNanos(System.nanoTime() - start));
    }

    @Override
    public String toString() {
        return group + ": " + name;
    }
}
