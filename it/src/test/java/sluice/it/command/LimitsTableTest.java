package sluice.it.command;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import sluice.it.machine.Machine;
import sluice.it.machine.OnMachine;
import sluice.region.Tenant;
import sluice.region.limits.GivenLimits;
import sluice.region.limits.Limit;
import sluice.region.limits.LimitSource;

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

    @ParameterizedTest
    @EnumSource
    void shouldMeanTheSameInTheLibrary(Limit limit) throws Exception {
        var outcome = machine.preloaded(Map.of(limit.variable(), example(limit), "SLUICE_TENANT", "job"), Machine.program("hog"), "--step", "16m", "--count", "1");

        assertThat(outcome.output()).contains("got 1 ");
        Tenant tenant = Tenant.read(machine.runtimeDirectory().resolve("job.region"));
        assertThat(limit.format(tenant.limits())).isEqualTo(limit.format(GivenLimits.of(LimitSource.COMMAND_LINE, Map.of(limit, example(limit))).limits()));
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
        var words = limit.kind() == Limit.Kind.SWITCH ? new String[] {"run", "--sim", "--name", "job", limit.option(), "--", "true"}
                : new String[] {"run", "--sim", "--name", "job", limit.option(), example(limit), "--", "true"};

        assertThat(machine.sluice(words).status()).isZero();
        Tenant tenant = Tenant.read(machine.runtimeDirectory().resolve("job.region"));
        assertThat(tenant.limits()).isEqualTo(GivenLimits.of(LimitSource.COMMAND_LINE, Map.of(limit, example(limit))).limits());
    }
}
