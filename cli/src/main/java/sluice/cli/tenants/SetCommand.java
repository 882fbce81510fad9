package sluice.cli.tenants;

import java.io.PrintWriter;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import picocli.CommandLine.Command;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;
import sluice.cli.run.RunCommand;
import sluice.cli.tables.SetText;
import sluice.region.LimitsChange;
import sluice.region.Tenant;
import sluice.region.limits.CapsChange;
import sluice.region.limits.ComputeChange;
import sluice.region.limits.ComputeLimits;
import sluice.region.limits.MemoryChange;
import sluice.region.limits.OnOom;
import sluice.region.limits.Priority;
import sluice.region.limits.TurnLength;

@Command(
        name = "set",
        header = "Changes the limits of a tenant that runs.",
        customSynopsis = "sluice set TENANT [OPTIONS]",
        description = {
            "",
            "  sluice set train --memory 6g --compute 50%%",
            "",
            "Takes effect at the next allocation, and at the next call that submits work. A quota below what is in use",
            "takes nothing away: it grants nothing new until the tenant is below it. --compute, --weight and --turn take",
            "'none' too: as if they had never been given.",
            ""
        },
        footer = {"", "Exit status: 0 set, 1 there is no such tenant, or it has ended, 2 usage."})
public final class SetCommand implements Runnable {
    private static final String NONE = "none";

    @Spec
    private CommandSpec spec;

    @Parameters(paramLabel = "TENANT", description = "Name, beginning of a name, pid, or path of a region file.")
    private String tenant;

    @Option(names = "--memory", paramLabel = "SIZE",
            description = "Memory quota on every GPU, or on some and the others as they are: 0=6g,1=none.")
    private MemoryChange memory;

    @Option(names = "--on-oom", paramLabel = "fail|wait[:30s]",
            description = "Over the quota: refuse the allocation, or let it wait until memory is freed, 60 s at the most.")
    private OnOom onOom;

    @Option(names = "--compute", paramLabel = "PERCENT",
            description = "Cap on GPU time on every GPU, or on some and the others as they are: 0=25%%,1=none.")
    private CapsChange caps;

    @Option(names = "--weight", paramLabel = "1..1000", converter = WeightConverter.class,
            description = "Part of the GPU's time against the weights of others who want it now.")
    private Integer weight;

    @Option(names = "--priority", paramLabel = "high|normal|low",
            completionCandidates = RunCommand.PriorityWords.class,
            description = "A higher one goes first, a lower one gets what is left.")
    private Priority priority;

    @Option(names = "--exclusive", negatable = true, arity = "0..1", paramLabel = "true|false", fallbackValue = "true",
            converter = ExclusiveConverter.class, description = "Turns in the order in which tenants ask for them, or not.")
    private Boolean exclusive;

    @Option(names = "--turn", paramLabel = "TIME", converter = TurnConverter.class,
            description = "Length of its turns at weight 1, 100us to 1s.")
    private Integer turnMicros;

    @Option(names = "--json", description = "Writes JSON.")
    private boolean json;

    @Option(names = {"-h", "--help"}, usageHelp = true, description = "Shows this help.")
    private boolean help;

    @Override
    public void run() {
        LimitsChange change = new LimitsChange(Optional.ofNullable(memory), Optional.ofNullable(onOom), new ComputeChange(
                Optional.ofNullable(caps), Optional.ofNullable(weight), Optional.ofNullable(priority),
                Optional.ofNullable(exclusive), Optional.ofNullable(turnMicros)));
        if (change.isEmpty()) {
            throw new ParameterException(spec.commandLine(),
                    "nothing to set; give --memory, --on-oom, --compute, --weight, --priority, --exclusive or --turn");
        }
        SeenTenants tenants = new SeenTenants(System.getenv());
        Tenant found = tenants.find(tenant);
        Tenant after = tenants.set(found, change, values());
        PrintWriter out = spec.commandLine().getOut();
        if (json) {
            SetText.writeJson(out, after);
        } else {
            List<String> lines = SetText.lines(found, after, change);
            lines.forEach(out::println);
        }
    }

    /// The options that were given and their values, as they were written.
    private Map<String, String> values() {
        Map<String, String> values = new LinkedHashMap<>();
        for (OptionSpec option : spec.commandLine().getParseResult().matchedOptions()) {
            if (!option.originalStringValues().isEmpty() && !option.longestName().equals("--json")) {
                values.put(option.longestName().substring(2), option.originalStringValues().getFirst());
            }
        }
        if (exclusive != null) {
            values.put("exclusive", exclusive.toString());
        }
        return values;
    }

    static final class WeightConverter implements ITypeConverter<Integer> {
        @Override
        public Integer convert(String text) {
            return text.equals(NONE) ? 0 : ComputeLimits.parseWeight(text);
        }
    }

    static final class TurnConverter implements ITypeConverter<Integer> {
        @Override
        public Integer convert(String text) {
            return text.equals(NONE) ? 0 : TurnLength.parse(text);
        }
    }

    static final class ExclusiveConverter implements ITypeConverter<Boolean> {
        @Override
        public Boolean convert(String text) {
            return ComputeLimits.parseExclusive(text);
        }
    }
}
