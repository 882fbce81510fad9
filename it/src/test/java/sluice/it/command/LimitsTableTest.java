package sluice.it.command;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import sluice.it.machine.Machine;
import sluice.it.machine.OnMachine;
import sluice.region.Tenant;
import sluice.region.limits.GivenLimits;
import sluice.region.limits.Limit;
import sluice.region.limits.LimitKind;
import sluice.region.limits.LimitSource;
import sluice.region.limits.Limits;

/// The library reads the variable of every limit in the table, and means the same by it.
class LimitsTableTest extends OnMachine {
    private static String example(Limit limit) {
        return switch (limit.kind()) {
            case SIZE, BYTES -> "3g";
            case PART -> "12.5%";
            case NUMBER -> "7";
            case WORD -> limit.choices().getLast();
            case SWITCH -> limit.choices().getFirst();
            case TIME -> "500us";
            case WAIT -> "wait:30s";
        };
    }

    /// What the limit needs beside it.
    private static Map<Limit, String> needed(Limit limit) {
        return limit == Limit.STRICT ? Map.of(Limit.COMPUTE, example(Limit.COMPUTE)) : Map.of();
    }

    private static Limits meant(Limit limit) {
        Map<Limit, String> words = new EnumMap<>(Map.of(limit, example(limit)));
        words.putAll(needed(limit));
        return GivenLimits.of(LimitSource.COMMAND_LINE, words).limits();
    }

    @ParameterizedTest
    @EnumSource
    void shouldMeanTheSameInTheLibrary(Limit limit) throws Exception {
        Map<String, String> variables = new HashMap<>(Map.of(limit.variable(), example(limit), "SLUICE_TENANT", "job"));
        needed(limit).forEach((other, value) -> variables.put(other.variable(), value));
        var outcome = machine.preloaded(variables, Machine.program("hog"), "--step", "16m", "--count", "1");

        assertThat(outcome.output()).contains("got 1 ");
        Tenant tenant = Tenant.read(machine.runtimeDirectory().resolve("job.region"));
        assertThat(limit.format(tenant.limits())).isEqualTo(limit.format(meant(limit)));
    }

    @ParameterizedTest
    @EnumSource
    void shouldBeRefusedByTheLibraryWhenItIsNonsense(Limit limit) throws Exception {
        var outcome = machine.preloaded(Map.of(limit.variable(), "nonsense", "SLUICE_TENANT", "job"), Machine.program("hog"), "--step", "16m", "--count", "1");

        assertThat(outcome.errors()).contains(limit.variable() + "=nonsense: ");
    }

    @ParameterizedTest
    @EnumSource
    void shouldBeAnOptionOfRun(Limit limit) throws Exception {
        List<String> words = new ArrayList<>(List.of("run", "--sim", "--name", "job", limit.option()));
        if (limit.kind() != LimitKind.SWITCH) {
            words.add(example(limit));
        }
        needed(limit).forEach((other, value) -> words.addAll(List.of(other.option(), value)));
        words.addAll(List.of("--", "true"));

        assertThat(machine.sluice(words.toArray(String[]::new)).status()).isZero();
        Tenant tenant = Tenant.read(machine.runtimeDirectory().resolve("job.region"));
        assertThat(tenant.limits()).isEqualTo(meant(limit));
    }
}
