package sluice.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import sluice.cli.output.ExitStatus;
import sluice.cli.output.Screen;

class CommandsTest {
    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();

    private int execute(String... args) {
        return Commands.line(new PrintWriter(out, true), new PrintWriter(err, true), new Screen(false, false), args).execute(args);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
        "rn                              | unknown command 'rn'; did you mean run? See 'sluice help'",
        "frobnicate                      | unknown command 'frobnicate'; see 'sluice help'",
        "--frob                          | unknown option '--frob'; see 'sluice help'",
        "run --memry 4g -- x             | unknown option '--memry'; did you mean --memory? See 'sluice help run'",
        "run --memory 4x -- x            | --memory: bad size '4x'; write it like 512m, 1.5g, 2Gi or 4GB; see 'sluice help run'",
        "run --memory 0 -- x             | --memory: size '0' is less than a byte; write it like 512m, 1.5g, 2Gi or 4GB; see 'sluice help run'",
        "run --memory 99=1g -- x         | --memory: bad GPU number '99' in memory limit '99=1g'; use 0 to 15, as in 0=4g,1=8g; see 'sluice help run'",
        "run --memory 4 -- x             | --memory: size '4' has no unit; write 4g, 4m or, for bytes, 4b; see 'sluice help run'",
        "run --memory 0=4g,1=4 -- x      | --memory: size '4' has no unit; write 4g, 4m or, for bytes, 4b; see 'sluice help run'",
        "run --compute 25 -- x           | --compute: part of GPU time '25' has no unit; write 25%; see 'sluice help run'",
        "run --compute 0.25 -- x         | --compute: part of GPU time '0.25' has no unit; write 25% or 0.25%; see 'sluice help run'",
        "set train --memory 6            | --memory: size '6' has no unit; write 6g, 6m or, for bytes, 6b; see 'sluice help set'",
        "set train --compute 50          | --compute: part of GPU time '50' has no unit; write 50%; see 'sluice help set'",
        "run --sim --memory 5=4g -- x    | --memory: there is no GPU 5; this simulated machine has GPU 0 (SLUICE_SIM_GPUS); see 'sluice help run'",
        "run --sim --compute 1=4% -- x   | --compute: there is no GPU 1; this simulated machine has GPU 0 (SLUICE_SIM_GPUS); see 'sluice help run'",
        "run --env A -- x                | bad --env 'A'; write it like KEY=VALUE; see 'sluice help run'",
        "run --on-error maybe -- x       | --on-error: bad value 'maybe'; use run or fail; see 'sluice help run'",
        "run --name a/b -- x             | --name: bad tenant name 'a/b'; use 1 to 63 letters, digits, '.', '_' or '-', not beginning with '.' or '-'; see 'sluice help run'",
        "run                             | the program is missing; see 'sluice help run'",
        "run --memory                    | option --memory needs a value SIZE; see 'sluice help run'",
        "completion                      | the shell is missing; see 'sluice help completion'",
        "run --memory -1 -- x            | --memory: bad size '-1'; write it like 512m, 1.5g, 2Gi or 4GB; see 'sluice help run'",
        "ps extra                        | unexpected argument 'extra'; see 'sluice help ps'",
        "ps --jsn                        | unknown option '--jsn'; did you mean --json? See 'sluice help ps'",
        "inspect                         | the tenant is missing; see 'sluice help inspect'",
        "bench --repeats 0               | bad --repeats '0'; use 1 to 1000; see 'sluice help bench'",
        "set train                       | nothing to set; give --memory, --on-oom, --compute, --weight, --priority, --exclusive, --turn, --strict, --reservoir or --prepare; see 'sluice help set'",
        "report                          | the folder is missing; see 'sluice help report'",
        "report x --text --json          | --text and --json exclude each other; see 'sluice help report'",
        "set                             | the tenant is missing; see 'sluice help set'",
        "set train --memory 4x           | --memory: bad size '4x'; write it like 512m, 1.5g, 2Gi or 4GB; see 'sluice help set'",
        "set train --memory 16=1g        | --memory: bad GPU number '16' in memory limit '16=1g'; use 0 to 15, as in 0=4g,1=8g; see 'sluice help set'",
        "set train --on-oom later        | --on-oom: bad value 'later'; use fail, wait, or wait with a time of at most an hour, as in wait:30s; see 'sluice help set'",
        "run --compute 0 -- x            | --compute: bad part of GPU time '0'; write 0.1% to 100%, as in 25% or 12.5%; see 'sluice help run'",
        "run --compute 16=5% -- x        | --compute: bad GPU number '16' in compute limit '16=5%'; use 0 to 15, as in 0=25%,1=50%; see 'sluice help run'",
        "run --compute 0=5%,7% -- x      | --compute: bad compute limit '0=5%,7%'; write 25% for every GPU, or 0=25%,1=50%; see 'sluice help run'",
        "run --weight 1001 -- x          | --weight: bad weight '1001'; write a whole number from 1 to 1000; see 'sluice help run'",
        "run --priority urgent -- x      | --priority: bad priority 'urgent'; use high, normal or low; see 'sluice help run'",
        "run --strict -- x               | --strict holds the cap of --compute, and there is none; add a cap, as in --compute 10% --strict; see 'sluice help run'",
        "run --strict --compute 100% -- x | --strict holds the cap of --compute, and there is none; add a cap, as in --compute 10% --strict; see 'sluice help run'",
        "run --turn 5 -- x               | --turn: bad length of a turn '5'; write 100us to 1s, as in 5ms; see 'sluice help run'",
        "run --comput 5% -- x            | unknown option '--comput'; did you mean --compute? See 'sluice help run'",
        "set train --compute 0=5%,7%     | --compute: bad compute limit '0=5%,7%'; write 25% for every GPU, or 0=25%,1=none; see 'sluice help set'",
        "set train --exclusive=maybe     | --exclusive: bad value 'maybe'; use true or false; see 'sluice help set'",
        "ps --over soon                  | --over: bad time 'soon'; write it like 500ms, 90s, 30m or 2h; see 'sluice help ps'",
        "verify memry                    | there is no group 'memry'; there are memory, quota, charge, pools, graphs, physical, arrays, contexts, shared, views, limits, processes, gpus, faults, unchanged, compute, pause, alone; see 'sluice help verify'",
        "monitor                         | the figure is missing; see 'sluice help monitor'",
        "monitor cpu                     | bad figure 'cpu'; use mem or util; see 'sluice help monitor'",
        "monitor mem --count -1          | bad --count '-1'; use 1 or more; see 'sluice help monitor'",
        "soak --for 3x                   | --for: bad time '3x'; write it like 500ms, 90s, 30m or 2h; see 'sluice help soak'",
        "trace                           | the tenant is missing; see 'sluice help trace'",
        "trace train --for soon          | --for: bad time 'soon'; write it like 500ms, 90s, 30m or 2h; see 'sluice help trace'",
        "help nosuch                     | unknown command 'nosuch'; see 'sluice help'",
        "help trac                       | unknown command 'trac'; did you mean trace? See 'sluice help'",
        "help trace record               | unknown command 'record'; see 'sluice help trace'",
        "bench lock --windows 2,7        | bad window '7'; write 2, 3, 4, or milliseconds up to 1 such as 0.05; see 'sluice help bench lock'",
        "bench latency --only 7ms        | no row has '7ms' in its name; --plan lists all of them; see 'sluice help bench latency'",
        "bench compute --only caps       | there is no table 'caps'; there are cap, weights, priority, lock, cost; see 'sluice help bench compute'",
        "trace train --events -5         | bad --events '-5'; use 64 to 16777216; see 'sluice help trace'",
        "trace convert x                 | option --out needs a value FILE; see 'sluice help trace convert'",
        "trace convert x -o y.txt        | bad name 'y.txt'; let it end in .pftrace or .json, or with .gz after that; see 'sluice help trace convert'",
        "completion fish                 | no completion for the shell 'fish'; use bash or zsh; see 'sluice help completion'"
    })
    void shouldSayInOneLineWhatIsWrong(String line, String message) {
        assertThat(execute(line.split(" "))).isEqualTo(ExitStatus.USAGE);
        assertThat(err.toString()).isEqualTo("sluice: " + message + "\n");
        assertThat(out.toString()).isEmpty();
    }

    @Test
    void shouldSayWhenANumberIsNone() {
        assertThat(execute("bench", "--repeats", "many")).isEqualTo(ExitStatus.USAGE);
        assertThat(err.toString()).startsWith("sluice: ").contains("'many'").hasLineCount(1);
    }

    @Test
    void shouldFailBeforeTheProgramWhenTheInstallationIsUnknown() {
        assertThat(execute("run", "--", "true")).isEqualTo(ExitStatus.SLUICE_FAILED);
        assertThat(err.toString()).startsWith("sluice: the system property sluice.home is not set;").hasLineCount(1);
    }

    @Test
    void shouldFailForATenantThatIsNotThere() {
        assertThat(execute("inspect", "there-is-no-such-tenant")).isEqualTo(ExitStatus.CHECK_FAILED);
        assertThat(err.toString()).isEqualTo(
                "sluice: there is no tenant 'there-is-no-such-tenant'; 'sluice ps --all' lists the tenants\n");
    }

    @Test
    void shouldNotSetLimitsOfATenantThatIsNotThere() {
        assertThat(execute("set", "there-is-no-such-tenant", "--memory", "6g")).isEqualTo(ExitStatus.CHECK_FAILED);
        assertThat(err.toString()).startsWith("sluice: there is no tenant 'there-is-no-such-tenant'").hasLineCount(1);
    }

    @Test
    void shouldShowHelp() {
        assertThat(execute("help")).isEqualTo(ExitStatus.OK);
        assertThat(out.toString()).contains("sluice run --memory 4g --compute 25% -- python train.py").contains("doctor").contains("125");
    }

    @Test
    void shouldShowHelpOfACommand() {
        assertThat(execute("run", "--help")).isEqualTo(ExitStatus.OK);
        assertThat(out.toString()).contains("sluice run [OPTIONS] -- PROGRAM [ARGUMENTS]").contains("--on-error").contains("0=25%,1=50%");
    }

    @Test
    void shouldListTheGroupsOfChecks() {
        assertThat(execute("verify", "--help")).isEqualTo(ExitStatus.OK);
        assertThat(out.toString()).contains("  memory     everything about memory").contains("  pools      stream-ordered memory");
    }

    @Test
    void shouldShowTheVersion() {
        assertThat(execute("version")).isEqualTo(ExitStatus.OK);
        assertThat(out.toString()).containsPattern("^sluice \\d+\\.\\d+").contains("region layout ");
    }

    @Test
    void shouldPrintCompletionScripts() {
        assertThat(execute("completion", "bash")).isEqualTo(ExitStatus.OK);
        assertThat(out.toString()).contains("complete -F").contains("--memory").contains("--compute").contains("high").contains("--exclusive");
    }
}
