package sluice.proof;

import java.time.Duration;

/// What became of a check.
///
/// @param detail what was seen, what was wrong, or why it was skipped
public record Result(String group, String name, Outcome outcome, String detail, Duration duration) {
    public enum Outcome { PASSED, FAILED, SKIPPED }

    public boolean failed() {
        return outcome == Outcome.FAILED;
    }
}
