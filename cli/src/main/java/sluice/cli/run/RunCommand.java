package sluice.cli.run;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import sluice.cli.output.AnyCommand;
import sluice.region.RegionDraft;
import sluice.region.limits.GivenLimits;
import sluice.region.limits.LimitSource;

@Command(
        name = "run",
        header = "Runs a program under limits, and becomes it.",
        customSynopsis = "sluice run [OPTIONS] -- PROGRAM [ARGUMENTS]",
        description = {
            "",
            "The program keeps the pid, the signals and the exit status of the command. Its children share its limits.",
            "Without --memory what it uses is accounted, and not limited. Without any of --compute, --weight, --priority,",
            "--exclusive and --turn its GPU time is neither measured nor limited, and it takes no turns with others.",
            ""
        },
        footer = {
            "",
            "Sizes: 512m, 1.5g, 2Gi, 4GB; units are powers of 1024. Parts of time: 25%%, 12.5%%. Times: 500us, 5ms, 0.25s.",
            "A number needs its unit. An allocation over the quota is told on standard error, once in 10 s; SLUICE_REFUSALS=quiet: not.",
            "Exit status: 2 usage, 125 Sluice failed before the program started, 126 the program cannot be started,",
            "127 it was not found, otherwise the program's own."
        })
public final class RunCommand extends AnyCommand implements Callable<Integer> {
    @Option(names = "--name", paramLabel = "NAME", converter = NameConverter.class,
            description = "Name of the tenant; the program's name and pid if not given.")
    private String name;

    @Option(names = "--sim", description = "Runs on the simulated GPU.")
    private boolean simulated;

    @Option(names = "--env", paramLabel = "KEY=VALUE", description = "Sets a variable for the program. May be repeated.")
    private List<String> environment = new ArrayList<>();

    @Option(names = "--trace", paramLabel = "FOLDER",
            description = "Records every CUDA call to a new folder, for 'sluice report' and 'sluice trace convert'.")
    private String trace;

    @Option(names = {"-v", "--verbose"}, description = "Says on standard error which limits were understood.")
    private boolean verbose;

    @Option(names = "--no-agent",
            description = "Does not ask the machine's agent: shares hold among your own jobs, and the machine's policy is not asked.")
    private boolean withoutAgent;

    @Parameters(paramLabel = "PROGRAM", arity = "1..*", hidden = true)
    private List<String> program = new ArrayList<>();

    @Override
    public Integer call() {
        return RunProgram.become(request());
    }

    RunRequest request() {
        for (String setting : environment) {
            if (setting.indexOf('=') < 1) {
                throw new ParameterException(spec.commandLine(), "bad --env '" + setting + "'; write it like KEY=VALUE");
            }
        }
        RunRequest request = new RunRequest(GivenLimits.of(LimitSource.COMMAND_LINE, LimitOptions.given(spec)), name, simulated, environment, trace,
                verbose, !withoutAgent, program);
        request.mistake().ifPresent(mistake -> {
            throw new ParameterException(spec.commandLine(), mistake);
        });
        return request;
    }

    static final class NameConverter implements ITypeConverter<String> {
        @Override
        public String convert(String text) {
            RegionDraft.checkName(text);
            return text;
        }
    }
}
