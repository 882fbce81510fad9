package sluice.it.proof;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import sluice.it.machine.Machine;
import sluice.it.machine.Timed;
import sluice.proof.Verify;
import sluice.proof.checks.Check;
import sluice.proof.checks.Group;
import sluice.proof.checks.Result;
import sluice.proof.stage.Environment;

/// The checks of `sluice verify` that measure time.
@Timed
class VerifyTimeTest {
    private static final int AT_ONCE = 4;
    private static final int ATTEMPTS = 3;

    @TestFactory
    Stream<DynamicTest> checks() {
        return VerifyTest.tests(Check::isTimed);
    }

    /// With a library that limits nothing no check of GPU time holds, unless by chance on a machine that is busy.
    @Test
    void shouldFailWithoutAGate() throws Exception {
        Environment without = new Environment(Machine.SIM.resolve("libnvidia-ml.so.1"), Optional.of(Machine.SIM));
        List<Callable<Result>> attempts = Verify.checks().stream()
                .filter(check -> check.group() == Group.COMPUTE)
                .map(check -> (Callable<Result>) () -> failure(check, without))
                .toList();
        try (var threads = Executors.newFixedThreadPool(AT_ONCE)) {
            List<Result> results = threads.invokeAll(attempts).stream().map(Future::resultNow).toList();
            assertThat(results).hasSizeGreaterThan(10).extracting(Result::outcome, Result::name, Result::detail)
                    .noneMatch(result -> result.toList().getFirst() == Result.Outcome.PASSED);
        }
    }

    private static Result failure(Check check, Environment environment) {
        Result result = check.attempt(environment);
        for (int i = 1; i < ATTEMPTS && !result.failed(); i++) {
            result = check.attempt(environment);
        }
        return result;
    }
}
