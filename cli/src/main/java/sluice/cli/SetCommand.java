package sluice.cli;

import java.io.PrintWriter;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import picocli.CommandLine.Command;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;
import sluice.cuda.Nvml;
import sluice.region.LimitsChange;
import sluice.region.MemoryChange;
import sluice.region.OnOom;
import sluice.region.RuntimeDirectory;
import sluice.region.SluiceException;
import sluice.region.Tenant;
import sluice.region.TenantGpu;
import sluice.region.Tenants;

@Command(
        name = "set",
        header = "Changes the limits of a tenant that runs.",
        customSynopsis = "sluice set TENANT [OPTIONS]",
        description = {
            "",
            "  sluice set train --memory 6g",
            "",
            "Takes effect at the next allocation. A quota below what is in use takes nothing away: it grants nothing new",
            "until the tenant is below it.",
            ""
        },
        footer = {"", "Exit status: 0 set, 1 there is no such tenant, or it has ended, 2 usage."})
final class SetCommand implements Runnable {
    @Spec
    private CommandSpec spec;

    @Parameters(paramLabel = "TENANT", description = "Name, beginning of a name, pid, or path of a region file.")
    private String tenant;

    @Option(names = "--memory", paramLabel = "SIZE", converter = MemoryConverter.class,
            description = "Memory quota on every GPU, or on some and the others as they are: 0=6g,1=none.")
    private MemoryChange memory;

    @Option(names = "--on-oom", paramLabel = "fail|wait[:30s]", converter = RunCommand.OnOomConverter.class,
            description = "Over the quota: refuse the allocation, or let it wait until memory is freed, 60 s at the most.")
    private OnOom onOom;

    @Option(names = "--json", description = "Writes JSON.")
    private boolean json;

    @Option(names = {"-h", "--help"}, usageHelp = true, description = "Shows this help.")
    private boolean help;

    @Override
    public void run() {
        if (memory == null && onOom == null) {
            throw new ParameterException(spec.commandLine(), "nothing to set; give --memory or --on-oom");
        }
        Tenant found = new Tenants(RuntimeDirectory.existing(System.getenv())).find(tenant);
        if (memory != null) {
            requireGpus(found);
        }
        Tenant after = new LimitsChange(Optional.ofNullable(memory), Optional.ofNullable(onOom)).apply(found.file());
        PrintWriter out = spec.commandLine().getOut();
        if (json) {
            SetText.writeJson(out, after);
        } else {
            List<String> lines = SetText.lines(found, after, memory != null, onOom != null);
            lines.forEach(out::println);
        }
    }

    /// A quota for a GPU that is not there would do nothing, so it is a mistake. The tenant may not have used all of its GPUs
    /// yet, so NVML tells which there are. Where there is no NVML, or one that does not know the tenant's GPUs because they
    /// are simulated ones, any number is taken.
    private void requireGpus(Tenant found) {
        List<Nvml.Gpu> gpus = Nvml.open().map(Nvml::gpus).orElse(List.of());
        Set<String> uuids = gpus.stream().map(Nvml.Gpu::uuid).collect(Collectors.toSet());
        if (gpus.isEmpty() || !found.gpus().stream().map(TenantGpu::uuid).allMatch(uuids::contains)) {
            return;
        }
        List<Integer> known = gpus.stream().map(Nvml.Gpu::index).toList();
        for (int gpu : memory.named()) {
            if (!known.contains(gpu)) {
                throw new SluiceException("there is no GPU " + gpu + " for tenant '" + found.name() + "'; it has GPU "
                        + String.join(", ", known.stream().map(String::valueOf).toList()));
            }
        }
    }

    static final class MemoryConverter implements ITypeConverter<MemoryChange> {
        @Override
        public MemoryChange convert(String text) {
            return MemoryChange.parse(text);
        }
    }
}
