package sluice.proof;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.Stream;
import sluice.proof.checks.AloneChecks;
import sluice.proof.checks.ArrayChecks;
import sluice.proof.checks.ChargeChecks;
import sluice.proof.checks.Check;
import sluice.proof.checks.ComputeChecks;
import sluice.proof.checks.ContextChecks;
import sluice.proof.checks.FaultChecks;
import sluice.proof.checks.GpuChecks;
import sluice.proof.checks.GraphChecks;
import sluice.proof.checks.Group;
import sluice.proof.checks.LimitChecks;
import sluice.proof.checks.PhysicalChecks;
import sluice.proof.checks.PoolChecks;
import sluice.proof.checks.ProcessChecks;
import sluice.proof.checks.QuotaChecks;
import sluice.proof.checks.Result;
import sluice.proof.checks.SameAsWithoutChecks;
import sluice.proof.checks.SharingChecks;
import sluice.proof.checks.StartChecks;
import sluice.proof.checks.ViewChecks;
import sluice.proof.checks.pause.PauseChecks;
import sluice.proof.stage.Environment;
import sluice.region.place.SluiceException;

/// The battery of checks that shows whether limits hold on this machine and driver.
public final class Verify {
    private static final String MEMORY = "memory";

    private Verify() {}

    public static List<Check> checks() {
        return Stream.of(
                        QuotaChecks.checks(),
                        ChargeChecks.checks(),
                        PoolChecks.checks(),
                        GraphChecks.checks(),
                        PhysicalChecks.checks(),
                        ArrayChecks.checks(),
                        ContextChecks.checks(),
                        SharingChecks.checks(),
                        ViewChecks.checks(),
                        LimitChecks.checks(),
                        ProcessChecks.checks(),
                        StartChecks.checks(),
                        GpuChecks.checks(),
                        FaultChecks.checks(),
                        SameAsWithoutChecks.checks(),
                        ComputeChecks.checks(),
                        PauseChecks.checks(),
                        AloneChecks.checks())
                .flatMap(List::stream)
                .toList();
    }

    /// The checks of some groups, by their words; `memory` stands for all groups about memory, and nothing for everything.
    public static List<Check> checks(List<String> words) {
        for (String word : words) {
            if (!words().contains(word)) {
                throw new SluiceException("there is no group '" + word + "'; there are " + String.join(", ", words()));
            }
        }
        return checks().stream()
                .filter(check -> words.isEmpty() || words.contains(check.group().word())
                        || words.contains(MEMORY) && check.group().isMemory())
                .toList();
    }

    /// The page `docs/memory.md`.
    public static String page() {
        return MemoryPage.markdown();
    }

    private static List<String> words() {
        return Stream.concat(Stream.of(MEMORY), Stream.of(Group.values()).map(Group::word)).toList();
    }

    /// Runs checks one after the other, and passes each result on at once.
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
