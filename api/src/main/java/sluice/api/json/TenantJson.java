package sluice.api.json;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import sluice.api.model.EarlierLook;
import sluice.api.model.OnBoards;
import sluice.region.MemoryUses;
import sluice.region.Tenant;
import sluice.region.TenantError;
import sluice.region.TenantGpu;
import sluice.region.TenantProcess;
import sluice.region.TenantState;
import sluice.region.boards.BoardState;
import sluice.region.layout.RegionLayout;
import sluice.region.limits.Limits;
import sluice.region.limits.OnError;
import sluice.region.limits.OnOom;
import sluice.region.pause.Command;
import sluice.region.pause.ProcessPause;
import sluice.region.pause.TimeSlices;
import sluice.region.place.Identity;
import tools.jackson.core.JsonGenerator;

/// Tenants for scripts and for clients of the agent. Bytes are numbers, moments are nanoseconds since 1970, a limit of 0 is no limit.
public final class TenantJson {
    private TenantJson() {}

    /// A tenant, with values from an earlier look and from the boards.
    private record Seen(Tenant tenant, EarlierLook earlier, OnBoards boards) {
        Limits limits() {
            return tenant.limits();
        }

        List<SeenGpu> gpus() {
            return tenant.gpus().stream().map(gpu -> new SeenGpu(tenant, gpu, earlier, boards)).toList();
        }

        List<SeenProcess> processes() {
            return tenant.processes().stream().map(process -> new SeenProcess(tenant, process)).toList();
        }
    }

    private record SeenProcess(Tenant tenant, TenantProcess process) {
        /// Whether JSON shows the time slices of a process: if it tried to control them, or if it does not and its tenant's cap is strict.
        boolean tells(TimeSlices slices) {
            return slices.tried() || tenant.compute().strict() && slices.failed();
        }

        List<Account> accounts() {
            return IntStream.range(0, process.charges().size())
                    .mapToObj(at -> new Account(process.charges().get(at), tenant.gpus().get(at).index())).toList();
        }
    }

    private record Account(TenantProcess.Charge charge, int gpu) {}

    /// The parts of a document about a GPU, and about a tenant.
    private record ReadGpu(TenantGpu gpu, Optional<ShareJson.Turns> turns) {}

    private record ReadTenant(Tenant tenant, List<ReadGpu> gpus) {}

    /// All of them, as one object.
    public static void write(JsonGenerator json, List<Tenant> tenants, EarlierLook earlier, OnBoards boards) {
        json.writeStartObject();
        json.writeArrayPropertyStart("tenants");
        tenants.forEach(tenant -> write(json, tenant, earlier, boards));
        json.writeEndArray();
        json.writeEndObject();
    }

    public static void write(JsonGenerator json, Tenant tenant, EarlierLook earlier, OnBoards boards) {
        JsonProperties.writeObject(json, new Seen(tenant, earlier, boards), TenantJson::describe);
    }

    /// Into an open object.
    public static void properties(JsonGenerator json, Tenant tenant, EarlierLook earlier, OnBoards boards) {
        JsonProperties.write(json, new Seen(tenant, earlier, boards), TenantJson::describe);
    }

    public static Tenant read(JsonTree json) {
        return JsonProperties.read(json, TenantJson::describe).tenant();
    }

    /// The tenant's entries on boards: one board for each entry, without other tenants.
    public static List<BoardState> readBoards(JsonTree json) {
        ReadTenant read = JsonProperties.read(json, TenantJson::describe);
        List<BoardState> boards = new ArrayList<>();
        read.gpus().forEach(gpu -> gpu.turns().ifPresent(turns -> boards.add(new BoardState(
                read.tenant().file(), gpu.gpu().uuid(), System.nanoTime(), 0, 0, 0, 0, List.of(turns.of(read.tenant()))))));
        return boards;
    }

    private static ReadTenant describe(JsonProperties<Seen> at) {
        String name = at.text("tenant", seen -> seen.tenant().name());
        boolean running = at.flag("running", seen -> seen.tenant().state().lives());
        String state = at.textIf("state", seen -> seen.tenant().state().word());
        String command = at.text("command", seen -> seen.tenant().command());
        String region = at.text("region", seen -> seen.tenant().file().toString());
        at.also((json, seen) -> json.writeNumberProperty("layout", RegionLayout.LAYOUT));
        long created = at.number("createdNanos", seen -> seen.tenant().createdNanos());
        long rootPid = at.number("rootPid", seen -> seen.tenant().root().pid());
        long rootStart = at.number("rootStartTicks", seen -> seen.tenant().root().startTicks());
        long uid = at.number("uid", seen -> seen.tenant().uid());
        String onError = at.text("onError", seen -> seen.tenant().limits().onError().word());
        OnOom onOom = LimitsJson.onOom(at, Seen::limits);
        long epoch = at.number("limitsEpoch", seen -> seen.tenant().limitsEpoch());
        Limits limits = new Limits(LimitsJson.memory(at, Seen::limits), LimitsJson.compute(at, Seen::limits), onOom, OnError.parse(onError),
                LimitsJson.host(at, Seen::limits));
        List<ReadGpu> gpus = at.objects("gpus", Seen::gpus, TenantJson::gpu);
        List<TenantProcess> processes = at.objects("processes", Seen::processes, TenantJson::process);
        List<TenantError> errors = at.objects("errors", seen -> seen.tenant().errors(), TenantJson::error);
        Command asked = at.objectIf("asked", seen -> PauseJson.told(seen.tenant().asked()), PauseJson::asked).orElse(Command.NONE);
        at.also((json, seen) -> seen.tenant().notStrict().ifPresent(why -> json.writeStringProperty("notStrict", why)));
        at.also((json, seen) -> PauseJson.summary(json, seen.tenant()));
        return new ReadTenant(new Tenant(Path.of(region), name, command, stateOf(state, running), asked, Identity.of(rootPid, rootStart), created, uid,
                epoch, limits, gpus.stream().map(ReadGpu::gpu).toList(), processes, errors), gpus);
    }

    /// An agent of another version may send no state, or an unknown one.
    private static TenantState stateOf(String word, boolean running) {
        return TenantState.find(word).orElse(running ? TenantState.RUNNING : TenantState.ENDED);
    }

    private static ReadGpu gpu(JsonProperties<SeenGpu> at) {
        TenantGpu gpu = new TenantGpu(at.place(), at.count("gpu", seen -> seen.gpu().index()), at.text("uuid", seen -> seen.gpu().uuid()),
                at.text("name", seen -> seen.gpu().name()), at.number("granularityBytes", seen -> seen.gpu().granularityBytes()),
                at.number("totalBytes", seen -> seen.gpu().totalBytes()), at.number("usedBytes", seen -> seen.gpu().usedBytes()),
                at.object("uses", seen -> seen.gpu().uses(), TenantJson::uses), at.number("limitBytes", seen -> seen.gpu().limitBytes()),
                at.number("peakBytes", seen -> seen.gpu().peakBytes()), at.number("refusedCalls", seen -> seen.gpu().refusedCalls()),
                at.number("lastRefusedBytes", seen -> seen.gpu().lastRefusedBytes()), at.object("time", seen -> seen, ShareJson::time));
        return new ReadGpu(gpu, at.objectIf("turns", SeenGpu::turns, ShareJson::turns));
    }

    private static TenantProcess process(JsonProperties<SeenProcess> at) {
        int slot = at.count("slot", seen -> seen.process().slot());
        long pid = at.number("pid", seen -> seen.process().identity().pid());
        long start = at.number("startTicks", seen -> seen.process().identity().startTicks());
        boolean alive = at.flag("alive", seen -> seen.process().alive());
        long attached = at.number("attachedNanos", seen -> seen.process().attachedNanos());
        long calls = at.number("calls", seen -> seen.process().calls());
        long passed = at.number("passedCalls", seen -> seen.process().passedCalls());
        String command = at.text("commandLine", seen -> seen.process().commandLine());
        return new TenantProcess(slot, Identity.of(pid, start), alive, attached, calls, passed,
                at.objects("accounts", SeenProcess::accounts, TenantJson::account),
                at.objectIf("pause", seen -> PauseJson.told(seen.process().pause()), PauseJson::process).orElse(ProcessPause.NONE),
                at.objectIf("slices", seen -> Optional.of(seen.process().slices()).filter(seen::tells), TenantJson::slices).orElse(TimeSlices.UNTRIED), command);
    }

    private static TimeSlices slices(JsonProperties<TimeSlices> at) {
        at.also((json, slices) -> json.writeStringProperty("text", slices.text()));
        return new TimeSlices(at.count("state", TimeSlices::state), at.number("micros", TimeSlices::micros));
    }

    private static TenantProcess.Charge account(JsonProperties<Account> at) {
        at.also((json, account) -> json.writeNumberProperty("gpu", account.gpu()));
        return new TenantProcess.Charge(at.place(), at.number("chargedBytes", account -> account.charge().chargedBytes()),
                at.number("inFlightBytes", account -> account.charge().inFlightBytes()),
                at.object("uses", account -> account.charge().uses(), TenantJson::uses),
                at.number("allocations", account -> account.charge().allocations()),
                at.number("allocationsTotal", account -> account.charge().allocationsTotal()));
    }

    private static MemoryUses uses(JsonProperties<MemoryUses> at) {
        return new MemoryUses(at.number("linearBytes", MemoryUses::linearBytes), at.number("managedBytes", MemoryUses::managedBytes),
                at.number("poolBytes", MemoryUses::poolBytes), at.number("physicalBytes", MemoryUses::physicalBytes),
                at.number("arrayBytes", MemoryUses::arrayBytes), at.number("graphBytes", MemoryUses::graphBytes),
                at.number("contextBytes", MemoryUses::contextBytes), at.number("overheadBytes", MemoryUses::overheadBytes));
    }

    private static TenantError error(JsonProperties<TenantError> at) {
        return new TenantError(at.text("text", TenantError::text), at.number("count", TenantError::count),
                at.number("firstNanos", TenantError::firstNanos), at.number("lastNanos", TenantError::lastNanos), at.number("pid", TenantError::pid));
    }
}
