package sluice.cli.run;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;
import sluice.region.limits.GivenLimits;
import sluice.region.limits.LimitSource;

class RunArgumentsTest {
    private static RunRequest parse(String line) {
        return RunArguments.parse(line.split(" "));
    }

    @ParameterizedTest
    @ValueSource(strings = {
        "run true",
        "run -- true",
        "run --memory 4g -- python train.py --epochs 3",
        "run --sim --env SLUICE_SIM_GPUS=2 --memory 0=4g,1=8g --name a.b_c-d python -- x",
        "run --sim --env A=b --env C= --env D=e=f -- env",
        "run --on-error run -- x --memory 5g --sim",
        "run --compute 25% -- x",
        "run -v --sim --env SLUICE_SIM_GPUS=2 --compute 0=25%,1=50% --weight 3 --priority high --turn 5ms --exclusive -- x --exclusive",
        "run --exclusive x",
        "run --compute 10% --strict x",
        "run --weight 1 true",
        "run --compute 100% true",
        "run --sim true -h",
        "run --trace /tmp/t -- x",
        "run --no-agent --weight 3 --on-oom wait:3s -- x --no-agent"
    })
    void shouldUnderstandTheSameAsPicocli(String line) {
        String[] args = line.split(" ");
        CommandLine run = new CommandLine(new RunCommand()).setStopAtPositional(true);
        LimitOptions.addForRun(run.getCommandSpec());
        run.parseArgs(Arrays.copyOfRange(args, 1, args.length));
        RunCommand command = run.getCommand();

        assertThat(parse(line)).isEqualTo(command.request());
    }

    @ParameterizedTest
    @ValueSource(strings = {
        "run",
        "ps",
        "run --help",
        "run --memory",
        "run --memory 4g",
        "run --memory 4x -- true",
        "run --memory 4 -- true",
        "run --compute 0.25 -- true",
        "run --compute 25 -- true",
        "run --sim --memory 5=4g -- true",
        "run --sim --env SLUICE_SIM_GPUS=2 --compute 2=5% -- true",
        "run -v -v -- true",
        "run --memory 1g --memory 2g -- true",
        "run --name a --name b -- true",
        "run --sim --sim -- true",
        "run --memory=4g -- true",
        "run --memory --sim -- true",
        "run --name a/b -- true",
        "run --env =x -- true",
        "run --env x -- true",
        "run --on-error maybe -- true",
        "run --on-oom later -- true",
        "run --unknown -- true",
        "run --compute 0 -- true",
        "run --compute=25% -- true",
        "run --compute 5% --compute 6% -- true",
        "run --weight 0 -- true",
        "run --priority urgent -- true",
        "run --turn 5 -- true",
        "run --exclusive --exclusive -- true",
        "run --exclusive=true -- true",
        "run --sim --",
        "run --trace",
        "run --trace a --trace b -- true"
    })
    void shouldLeaveTheUnusualToPicocli(String line) {
        assertThat(parse(line)).isNull();
    }

    @Test
    void shouldLimitNothingByDefaultAndFailOnErrors() {
        assertThat(parse("run -- true"))
                .isEqualTo(new RunRequest(GivenLimits.none(LimitSource.COMMAND_LINE), null, false, List.of(), null, false, true, List.of("true")));
    }

    @Test
    void shouldTakeTurnsWhenAnythingIsSaidOfThem() {
        assertThat(parse("run --compute 25% x").limits().compute().turns()).isFalse();
        assertThat(parse("run --weight 1 x").limits().compute().turns()).isTrue();
        assertThat(parse("run --priority normal x").limits().compute().turns()).isTrue();
        assertThat(parse("run --exclusive x").limits().compute().turns()).isTrue();
        assertThat(parse("run --turn 10ms x").limits().compute().turns()).isTrue();
    }
}
