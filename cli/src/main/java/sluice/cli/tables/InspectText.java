package sluice.cli.tables;

import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import sluice.api.model.ClaimPlace;
import sluice.api.model.EarlierLook;
import sluice.api.model.OnBoards;
import sluice.cli.output.Screen;
import sluice.cli.output.Table;
import sluice.cli.output.Text;
import sluice.region.GpuTime;
import sluice.region.MemoryUses;
import sluice.region.Tenant;
import sluice.region.TenantError;
import sluice.region.TenantGpu;
import sluice.region.TenantProcess;
import sluice.region.TenantState;
import sluice.region.layout.RegionLayout;
import sluice.region.limits.HostLimits;
import sluice.region.limits.Limit;
import sluice.region.limits.Percent;
import sluice.region.limits.Size;

/// A region as text: header, limits, GPUs, slots with their accounts, error log.
public final class InspectText {
    private final Tenant tenant;
    private final OnBoards boards;
    private final Instant now;
    private final Screen screen;
    private final List<String> lines = new ArrayList<>();

    private InspectText(Tenant tenant, OnBoards boards, Instant now, Screen screen) {
        this.tenant = tenant;
        this.boards = boards;
        this.now = now;
        this.screen = screen;
    }

    public static List<String> lines(Tenant tenant, OnBoards boards, Instant now, Screen screen) {
        return lines(tenant, boards, now, screen, Optional.empty());
    }

    /// @param claim of a cluster that the tenant is
    public static List<String> lines(Tenant tenant, OnBoards boards, Instant now, Screen screen, Optional<ClaimPlace> claim) {
        InspectText text = new InspectText(tenant, boards, now, screen);
        text.header(claim);
        text.gpus();
        text.times();
        text.turns();
        text.slots();
        text.uses();
        text.errors();
        return text.lines;
    }

    static String state(TenantState state, Screen screen) {
        return state == TenantState.RUNNING ? screen.green(state.word()) : state.word();
    }

    private void header(Optional<ClaimPlace> claim) {
        fact("tenant", tenant.name());
        fact("state", PauseText.isOfPause(tenant.state()) ? screen.yellow(PauseText.state(tenant, now)) : state(tenant.state(), screen));
        PauseText.note(tenant, now).ifPresent(note -> fact("pause", note));
        PauseText.memory(tenant).ifPresent(memory -> fact("away", memory));
        claim.ifPresent(place -> {
            fact("pod", place.user());
            fact("claim", place.claim());
        });
        fact("command", Text.visible(tenant.command()));
        fact("region", tenant.file() + " (layout " + RegionLayout.LAYOUT + ", " + RegionLayout.REGION_BYTES + " bytes)");
        fact("created", Text.instant(tenant.createdNanos()).truncatedTo(ChronoUnit.SECONDS) + " (" + PsTable.age(tenant.createdNanos(), now) + " ago)");
        fact("root", "pid " + tenant.root().pid() + ", started at tick " + tenant.root().startTicks());
        fact("user", Long.toString(tenant.uid()));
        fact("on error", tenant.limits().onError().word());
        fact("memory", tenant.memory() + " (change " + tenant.limitsEpoch() + ")");
        fact("on oom", tenant.limits().onOom().toString());
        fact("compute", tenant.compute().caps() + (tenant.compute().strict() ? ", strict" : ""));
        ShareText.notStrict(tenant).ifPresent(note -> fact("", note));
        fact("turns", ShareText.turns(tenant.compute()));
        String slices = tenant.processes().stream().filter(process -> process.alive() && process.slices().tried())
                .map(process -> process.slices().text()).distinct().collect(Collectors.joining("; "));
        if (!slices.isEmpty()) {
            fact("slices", slices);
        }
        HostLimits host = tenant.limits().host();
        if (!host.equals(HostLimits.NONE)) {
            fact("host", (host.mapped() ? "mapped, " : "") + "reservoir " + Limit.RESERVOIR.format(tenant.limits()) + ", prepared " + Limit.PREPARE.format(tenant.limits()));
        }
    }

    private void fact(String name, String value) {
        lines.add(name + " ".repeat(10 - name.length()) + value);
    }

    private void gpus() {
        section("GPUs", tenant.gpus().isEmpty());
        Table table = new Table(">GPU", "UUID", "NAME", ">TOTAL", ">BLOCK", ">USED", ">LIMIT", ">PEAK", ">REFUSED", ">LAST REFUSED");
        for (TenantGpu gpu : tenant.gpus()) {
            table.row(Integer.toString(gpu.index()), gpu.uuid(), Text.visible(gpu.name()), gpu.totalBytes() == 0 ? Table.NOTHING : Size.format(gpu.totalBytes()),
                    Size.format(gpu.granularityBytes()), Size.format(gpu.usedBytes()),
                    gpu.limitBytes() == 0 ? "none" : Size.format(gpu.limitBytes()), Size.format(gpu.peakBytes()),
                    Long.toString(gpu.refusedCalls()), gpu.refusedCalls() == 0 ? "-" : Size.format(gpu.lastRefusedBytes()));
        }
        append(table);
    }

    /// Only GPUs on which time is measured.
    private void times() {
        List<TenantGpu> measured = tenant.gpus().stream().filter(gpu -> gpu.time().begun()).toList();
        section("GPU time", measured.isEmpty());
        Table table = new Table(">GPU", ">CAP", ">GOT", ">USED", ">SINCE", ">CALLS", ">UNMEASURED", ">CAP WAITS", ">WAITED", ">TURN WAITS", ">WAITED",
                ">DEBT");
        for (TenantGpu gpu : measured) {
            GpuTime time = gpu.time();
            table.row(Integer.toString(gpu.index()), time.capPermille() == 0 ? "none" : Percent.format(time.capPermille()),
                    ShareText.got(EarlierLook.NONE.gotPermille(tenant, gpu)), Text.duration(time.usedNanos()),
                    Text.duration(time.readNanos() - time.beganNanos()), Long.toString(time.submittedCalls()),
                    Long.toString(time.unmeteredCalls()), Long.toString(time.capWaits()), Text.duration(time.capWaitedNanos()),
                    Long.toString(time.turnWaits()), Text.duration(time.turnWaitedNanos()), ShareText.debt(tenant, time));
        }
        append(table);
        ShareText.notes(tenant, now).forEach(note -> lines.add("  " + note));
    }

    /// Only GPUs on whose boards the tenant is.
    private void turns() {
        Table table = new Table(">GPU", ">LENGTH", "PLAN", ">TURNS", ">HELD", ">BALANCE", ">PROCESSES", "NOW");
        for (TenantGpu gpu : tenant.gpus()) {
            boards.of(tenant, gpu).ifPresent(entry -> table.row(Integer.toString(gpu.index()), Text.duration(entry.lengthNanos()),
                    entry.planNanos() == 0 ? "none" : "agent's", Long.toString(entry.turns()), Text.duration(entry.heldNanos()),
                    entry.balanceNanos() < 0 ? "-" + Text.duration(-entry.balanceNanos()) : "0 s", Integer.toString(entry.processes()),
                    entry.holds() ? "has the turn" : entry.waitingNanos() > 0 ? "waits, " + Text.duration(entry.waitingNanos()) : "does not wait"));
        }
        section("Turns", table.isEmpty());
        append(table);
    }

    private void slots() {
        section("Processes", tenant.processes().isEmpty());
        Table table = new Table(">SLOT", ">PID", "STATE", ">CALLS", ">PASSED", ">GPU", ">CHARGED", ">IN FLIGHT", ">LIVE", ">EVER", "COMMAND");
        for (TenantProcess process : tenant.processes()) {
            String slot = Integer.toString(process.slot());
            String pid = Long.toString(process.identity().pid());
            String state = process.alive() ? "alive" : "dead";
            String command = Text.cut(Text.visible(process.commandLine()), 48);
            if (process.charges().isEmpty()) {
                table.row(slot, pid, state, Long.toString(process.calls()), Long.toString(process.passedCalls()), "-", "-", "-", "-", "-", command);
            }
            for (TenantProcess.Charge charge : process.charges()) {
                table.row(slot, pid, state, Long.toString(process.calls()), Long.toString(process.passedCalls()),
                        Integer.toString(index(charge.gpuEntry())), Size.format(charge.chargedBytes()), Size.format(charge.inFlightBytes()),
                        Long.toString(charge.allocations()), Long.toString(charge.allocationsTotal()), command);
            }
        }
        append(table);
    }

    /// Only processes that hold something.
    private void uses() {
        boolean none = tenant.processes().stream().flatMap(process -> process.charges().stream()).noneMatch(InspectText::holds);
        section("Memory, by what it is used for", none);
        Table table = new Table(Stream.concat(Stream.of(">PID", ">GPU"),
                MemoryUses.NONE.byName().keySet().stream().map(use -> ">" + use.toUpperCase(Locale.ROOT))).toArray(String[]::new));
        for (TenantProcess process : tenant.processes()) {
            for (TenantProcess.Charge charge : process.charges()) {
                if (holds(charge)) {
                    table.row(Stream.concat(
                            Stream.of(Long.toString(process.identity().pid()), Integer.toString(index(charge.gpuEntry()))),
                            charge.uses().byName().values().stream().map(bytes -> bytes == 0 ? "-" : Size.format(bytes)))
                            .toArray(String[]::new));
                }
            }
        }
        append(table);
    }

    private static boolean holds(TenantProcess.Charge charge) {
        return !charge.uses().equals(MemoryUses.NONE);
    }

    private int index(int gpuEntry) {
        for (TenantGpu gpu : tenant.gpus()) {
            if (gpu.entry() == gpuEntry) {
                return gpu.index();
            }
        }
        return -1;
    }

    private void errors() {
        section("Error log", tenant.errors().isEmpty());
        Table table = new Table(">COUNT", ">LAST", ">PID", "WHAT");
        for (TenantError error : tenant.errors()) {
            table.row(Long.toString(error.count()), PsTable.age(error.lastNanos(), now) + " ago", Long.toString(error.pid()), Text.visible(error.text()));
        }
        append(table);
    }

    private void section(String title, boolean empty) {
        lines.add("");
        lines.add(screen.bold(title) + (empty ? ": none" : ""));
    }

    private void append(Table table) {
        if (!table.isEmpty()) {
            table.lines(screen).forEach(line -> lines.add("  " + line));
        }
    }
}
