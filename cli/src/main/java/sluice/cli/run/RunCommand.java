package sluice.cli.run;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import picocli.CommandLine.Command;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;
import sluice.region.RegionDraft;
import sluice.region.limits.ComputeCaps;
import sluice.region.limits.ComputeLimits;
import sluice.region.limits.MemoryLimits;
import sluice.region.limits.OnError;
import sluice.region.limits.OnOom;
import sluice.region.limits.Priority;
import sluice.region.limits.TurnLength;

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
public final class RunCommand implements Callable<Integer> {
    private static final List<String> LIMITS = List.of("memory", "compute", "weight", "priority", "exclusive", "turn", "on-oom", "on-error");

    @Spec
    private CommandSpec spec;

    @Option(names = "--memory", paramLabel = "SIZE",
            description = "Memory quota on every GPU, or on some: 0=4g,1=8g.")
    private MemoryLimits memory = MemoryLimits.none();

    @Option(names = "--compute", paramLabel = "PERCENT",
            description = "Cap on GPU time on every GPU, or on some: 0=25%%,1=50%%. A kernel that takes longer is repaid.")
    private ComputeCaps caps;

    @Option(names = "--weight", paramLabel = "1..1000", converter = WeightConverter.class,
            description = "Part of the GPU's time against the weights of others who want it now; default 1.")
    private Integer weight;

    @Option(names = "--priority", paramLabel = "high|normal|low",
            completionCandidates = PriorityWords.class,
            description = "A higher one goes first, a lower one gets what is left; default normal.")
    private Priority priority;

    @Option(names = "--exclusive", description = "Turns in the order in which tenants ask for them: the lock of older tools.")
    private boolean exclusive;

    @Option(names = "--turn", paramLabel = "TIME", converter = TurnConverter.class,
            description = "Length of its turns at weight 1, 100us to 1s; default 10ms.")
    private Integer turnMicros;

    @Option(names = "--name", paramLabel = "NAME", converter = NameConverter.class,
            description = "Name of the tenant; the program's name and pid if not given.")
    private String name;

    @Option(names = "--sim", description = "Runs on the simulated GPU.")
    private boolean simulated;

    @Option(names = "--env", paramLabel = "KEY=VALUE", description = "Sets a variable for the program. May be repeated.")
    private List<String> environment = new ArrayList<>();

    @Option(names = "--on-error", paramLabel = "run|fail",
            description = "When the quota cannot be enforced: let the program run unlimited, or fail its CUDA calls (default).")
    private OnError onError = OnError.FAIL;

    @Option(names = "--on-oom", paramLabel = "fail|wait[:30s]",
            description = "Over the quota: refuse the allocation (default), or let it wait until memory is freed, 60 s at the most.")
    private OnOom onOom = OnOom.FAIL;

    @Option(names = "--trace", paramLabel = "FOLDER",
            description = "Records every CUDA call to a new folder, for 'sluice report' and 'sluice trace convert'.")
    private String trace;

    @Option(names = {"-v", "--verbose"}, description = "Says on standard error which limits were understood.")
    private boolean verbose;

    @Option(names = "--no-agent",
            description = "Does not ask the machine's agent: shares hold among your own jobs, and the machine's policy is not asked.")
    private boolean withoutAgent;

    @Option(names = {"-h", "--help"}, usageHelp = true, description = "Shows this help.")
    private boolean help;

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
        RunRequest request = new RunRequest(memory, compute(), name, simulated, environment, onError, onOom, trace, verbose, !withoutAgent,
                asked(), program);
        request.mistake().ifPresent(mistake -> {
            throw new ParameterException(spec.commandLine(), mistake);
        });
        return request;
    }

    private Map<String, String> asked() {
        Map<String, String> asked = new TreeMap<>();
        for (String limit : LIMITS) {
            OptionSpec option = spec.findOption("--" + limit);
            if (!option.stringValues().isEmpty()) {
                asked.put(limit, option.stringValues().getLast());
            }
        }
        return asked;
    }

    private ComputeLimits compute() {
        ComputeSettings settings = new ComputeSettings();
        settings.caps = caps;
        settings.weight = weight;
        settings.priority = priority;
        settings.exclusive = exclusive ? true : null;
        settings.turnMicros = turnMicros;
        return settings.limits();
    }

    static final class WeightConverter implements ITypeConverter<Integer> {
        @Override
        public Integer convert(String text) {
            return ComputeLimits.parseWeight(text);
        }
    }

    public static final class PriorityWords implements Iterable<String> {
        @Override
        public Iterator<String> iterator() {
            return Stream.of(Priority.values()).map(Priority::word).iterator();
        }
    }

    static final class TurnConverter implements ITypeConverter<Integer> {
        @Override
        public Integer convert(String text) {
            return TurnLength.parse(text);
        }
    }

    static final class NameConverter implements ITypeConverter<String> {
        @Override
        public String convert(String text) {
            RegionDraft.checkName(text);
            return text;
        }
    }
}
