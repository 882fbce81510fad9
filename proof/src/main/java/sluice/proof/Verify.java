package sluice.proof;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.Stream;

/// The battery of checks that shows whether limits hold on this machine and driver.
public final class Verify {
    private Verify() {}

    public static List<Check> checks() {
        return Stream.of(
                        QuotaChecks.checks(),
                        ChargeChecks.checks(),
                        ProcessChecks.checks(),
                        GpuChecks.checks(),
                        FaultChecks.checks(),
                        SameAsWithoutChecks.checks(),
                        AloneChecks.checks())
                .flatMap(List::stream)
                .toList();
    }

    /// Runs checks one after the other and tells each result as soon as it is there.
    public static List<Result> run(Environment environment, List<Check> checks, Consumer<Result> live) {
        List<Result> results = new ArrayList<>();
        for (Check check : checks) {
            Result result = check.run(environment);
            live.accept(result);
            results.add(result);
        }
        return results;
    }
}
