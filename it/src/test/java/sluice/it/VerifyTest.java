package sluice.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;
import sluice.proof.Environment;
import sluice.proof.Group;
import sluice.proof.Verify;
import sluice.region.Installation;

/// The checks of `sluice verify`, each as a test, on the simulated driver. On a real one `sluice verify` runs them.
class VerifyTest {
    @TestFactory
    Stream<DynamicTest> checks() {
        Environment environment = Environment.of(new Installation(Machine.HOME), true);
        return Verify.checks().stream().filter(check -> check.group() != Group.COMPUTE).map(check -> DynamicTest.dynamicTest(check.group() + ": " + check.name(), () -> {
            var result = check.run(environment);
            switch (result.outcome()) {
                case PASSED -> { }
                case SKIPPED -> Assumptions.abort(result.detail());
                case FAILED -> assertThat(result.detail()).as(check.name()).isNull();
            }
        }));
    }
}
