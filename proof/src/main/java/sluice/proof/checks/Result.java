package sluice.proof.checks;

import java.time.Duration;

/// The result of a check.
///
/// @param detail the observation, the error, or why it was skipped
public record Result(String group, String name, Outcome outcome, String detail, Duration duration) {
    public enum Outcome { PASSED, FAILED, SKIPPED }

    /// The second of two attempts.
    Result after(Result first) {
        return new Result(group, name, outcome, detail + "; at the first attempt: " + first.detail, duration.plus(first.duration));
    }

    public boolean failed() {
        return outcome == Outcome.FAILED;
    }
}
