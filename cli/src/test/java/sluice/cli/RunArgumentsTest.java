package sluice.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;
import sluice.region.MemoryLimits;
import sluice.region.OnError;
import sluice.region.OnOom;

class RunArgumentsTest {
    private static RunRequest parse(String line) {
        return RunArguments.parse(line.split(" "));
    }

    @ParameterizedTest
    @ValueSource(strings = {
        "run true",
        "run -- true",
        "run --memory 4g -- python train.py --epochs 3",
        "run --memory 0=4g,1=8g --name a.b_c-d python -- x",
        "run --sim --env A=b --env C= --env D=e=f -- env",
        "run --on-error run -- x --memory 5g --sim",
        "run --sim true -h"
    })
    void shouldUnderstandTheSameAsPicocli(String line) {
        String[] args = line.split(" ");
        CommandLine run = new CommandLine(new RunCommand()).setStopAtPositional(true);
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
        "run --sim --"
    })
    void shouldLeaveTheUnusualToPicocli(String line) {
        assertThat(parse(line)).isNull();
    }

    @Test
    void shouldLimitNothingByDefaultAndFailOnErrors() {
        assertThat(parse("run -- true"))
                .isEqualTo(new RunRequest(MemoryLimits.none(), null, false, List.of(), OnError.FAIL, OnOom.FAIL, List.of("true")));
    }
}
