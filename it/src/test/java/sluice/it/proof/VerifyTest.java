package sluice.it.proof;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.function.Predicate;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.TestFactory;
import sluice.it.machine.Machine;
import sluice.proof.Verify;
import sluice.proof.checks.Check;
import sluice.proof.stage.Environment;
import sluice.region.place.Installation;

/// The checks of `sluice verify`, each as a test, on the simulated driver. On a real one `sluice verify` runs them.
@Order(1)
class VerifyTest {

    @TestFactory
    Stream<DynamicTest> checks() {
        return tests(check -> !check.isTimed());
    }

    static Stream<DynamicTest> tests(Predicate<Check> which) {
        Environment environment = Environment.of(new Installation(Machine.HOME), true);
        return Verify.checks().stream().filter(which).map(check -> DynamicTest.dynamicTest(check.toString(), () -> {
            var result = check.run(environment);
            switch (result.outcome()) {
                case PASSED -> { }
                case SKIPPED -> Assumptions.abort(result.detail());
                case FAILED -> assertThat(result.detail()).as(check.name()).isNull();
            }
        }));
    }
}
