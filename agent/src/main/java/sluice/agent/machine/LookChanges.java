package sluice.agent.machine;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import sluice.agent.machine.MachineLook.BoardLook;
import sluice.agent.machine.MachineLook.GpuLook;
import sluice.agent.machine.MachineLook.Rates;
import sluice.agent.machine.MachineLook.TenantLook;
import sluice.api.json.AuditJson;
import sluice.api.model.OnBoards;
import sluice.region.Tenant;
import sluice.region.TenantGpu;
import sluice.region.boards.BoardTenant;
import tools.jackson.core.JsonGenerator;

/// The differences between two looks, for a stream (docs/agent.md). Numbers that change all the time are rows; a tenant or a board with any
/// other change is sent whole.
record LookChanges(MachineLook before, MachineLook now, TenantIds ids) {

    /// Whether the differences can be sent as changes: the GPUs must be the same.
    boolean fit() {
        return before.gpus().stream().map(GpuLook::uuid).toList().equals(now.gpus().stream().map(GpuLook::uuid).toList());
    }

    void write(JsonGenerator json) {
        Map<Integer, TenantLook> then = new HashMap<>();
        before.tenants().forEach(look -> then.put(ids.of(look.tenant()), look));
        Map<Integer, TenantLook> gone = new HashMap<>(then);
        List<TenantLook> whole = new ArrayList<>();
        List<TenantLook> numbers = new ArrayList<>();
        for (TenantLook look : now.tenants()) {
            TenantLook earlier = gone.remove(ids.of(look.tenant()));
            if (earlier == null || !alike(earlier.tenant(), look.tenant())) {
                whole.add(look);
            } else if (differ(earlier, look)) {
                numbers.add(look);
            }
        }
        json.writeStartObject();
        json.writeNumberProperty("look", now.number());
        json.writeNumberProperty("after", before.number());
        json.writeNumberProperty("atNanos", MachineJson.nanos(now.at()));
        gpus(json);
        tenants(json, whole);
        if (!gone.isEmpty()) {
            json.writeArrayPropertyStart("gone");
            gone.keySet().forEach(json::writeNumber);
            json.writeEndArray();
        }
        if (!numbers.isEmpty()) {
            json.writeArrayPropertyStart("numbers");
            numbers.forEach(look -> numbers(json, then.get(ids.of(look.tenant())), look));
            json.writeEndArray();
        }
        boards(json);
        if (!now.findings().equals(before.findings())) {
            AuditJson.findings(json, now.findings());
        }
        json.writeEndObject();
    }

    private void gpus(JsonGenerator json) {
        List<GpuLook> changed = now.gpus().stream().filter(gpu -> !before.gpus().contains(gpu)).toList();
        if (!changed.isEmpty()) {
            json.writeArrayPropertyStart("gpus");
            changed.forEach(gpu -> MachineJson.gpu(json, gpu));
            json.writeEndArray();
        }
    }

    private void tenants(JsonGenerator json, List<TenantLook> whole) {
        if (!whole.isEmpty()) {
            OnBoards boards = now.onBoards();
            json.writeArrayPropertyStart("tenants");
            whole.forEach(look -> MachineJson.tenant(json, look, boards, OptionalInt.of(ids.of(look.tenant()))));
            json.writeEndArray();
        }
    }

    /// Whether only numbers differ.
    private static boolean alike(Tenant before, Tenant now) {
        boolean same = before.state() == now.state() && before.asked().equals(now.asked())
                && (now.asked().word() == 0 || before.pause().equals(now.pause())) && before.limitsEpoch() == now.limitsEpoch() && before.limits().equals(now.limits())
                && before.name().equals(now.name()) && before.gpus().size() == now.gpus().size() && before.errors().size() == now.errors().size()
                && before.processes().size() == now.processes().size();
        for (int at = 0; same && at < now.gpus().size(); at++) {
            same = before.gpus().get(at).entry() == now.gpus().get(at).entry() && before.gpus().get(at).limitBytes() == now.gpus().get(at).limitBytes();
        }
        for (int at = 0; same && at < now.processes().size(); at++) {
            same = before.processes().get(at).alive() == now.processes().get(at).alive()
                    && before.processes().get(at).identity().equals(now.processes().get(at).identity());
        }
        return same;
    }

    private static boolean differ(TenantLook before, TenantLook now) {
        boolean differs = before.callsPerSecond() != now.callsPerSecond();
        for (int at = 0; !differs && at < now.rates().size(); at++) {
            differs = differ(before.tenant().gpus().get(at), now.tenant().gpus().get(at)) || differ(before.rates().get(at), now.rates().get(at));
        }
        return differs;
    }

    private static boolean differ(TenantGpu before, TenantGpu now) {
        return before.usedBytes() != now.usedBytes() || before.peakBytes() != now.peakBytes() || before.refusedCalls() != now.refusedCalls();
    }

    private static boolean differ(Rates before, Rates now) {
        return before.gotPermille() != now.gotPermille() || before.submittedPerSecond() != now.submittedPerSecond()
                || before.refusedPerSecond() != now.refusedPerSecond() || before.capWaitedPermille() != now.capWaitedPermille()
                || before.turnWaitedPermille() != now.turnWaitedPermille();
    }

    private void numbers(JsonGenerator json, TenantLook earlier, TenantLook look) {
        json.writeStartObject();
        json.writeNumberProperty("id", ids.of(look.tenant()));
        if (earlier.callsPerSecond() != look.callsPerSecond()) {
            json.writeNumberProperty("callsPerSecond", look.callsPerSecond());
        }
        json.writeArrayPropertyStart("gpus");
        for (int at = 0; at < look.rates().size(); at++) {
            TenantGpu gpu = look.tenant().gpus().get(at);
            Rates rates = look.rates().get(at);
            if (differ(earlier.tenant().gpus().get(at), gpu) || differ(earlier.rates().get(at), rates)) {
                row(json, at, gpu.usedBytes(), gpu.peakBytes(), gpu.refusedCalls(), rates.gotPermille(), rates.submittedPerSecond(),
                        rates.refusedPerSecond(), rates.capWaitedPermille(), rates.turnWaitedPermille());
            }
        }
        json.writeEndArray();
        json.writeEndObject();
    }

    /// If boards or their tenants are added or removed, the document has all boards whole.
    private void boards(JsonGenerator json) {
        if (!tenantsOf(before).equals(tenantsOf(now))) {
            json.writeArrayPropertyStart("boards");
            now.boards().forEach(board -> MachineJson.board(json, board));
            json.writeEndArray();
            return;
        }
        json.writeArrayPropertyStart("turns");
        for (int at = 0; at < now.boards().size(); at++) {
            turns(json, at, before.boards().get(at), now.boards().get(at));
        }
        json.writeEndArray();
    }

    private record Place(String uuid, long uid, int entry, long key, String name) {}

    private static List<Place> tenantsOf(MachineLook look) {
        List<Place> places = new ArrayList<>();
        for (BoardLook board : look.boards()) {
            places.add(new Place(board.state().uuid(), board.uid(), 0, 0, ""));
            board.state().tenants().forEach(each -> places.add(new Place(board.state().uuid(), board.uid(), each.entry(), each.key(), each.name())));
        }
        return places;
    }

    private static void turns(JsonGenerator json, int at, BoardLook before, BoardLook now) {
        json.writeStartObject();
        json.writeNumberProperty("board", at);
        json.writeStringProperty("holder", now.holder().orElse(""));
        json.writeNumberProperty("handOvers", now.state().handOvers());
        json.writeNumberProperty("seized", now.state().seized());
        json.writeNumberProperty("handOversPerSecond", now.handOversPerSecond());
        json.writeNumberProperty("seizedPerSecond", now.seizedPerSecond());
        json.writeArrayPropertyStart("tenants");
        for (int place = 0; place < now.state().tenants().size(); place++) {
            BoardTenant tenant = now.state().tenants().get(place);
            if (!tenant.equals(before.state().tenants().get(place))) {
                row(json, place, tenant.holds() ? 1 : 0, tenant.wants() ? 1 : 0, tenant.lengthNanos(), tenant.heldNanos(), tenant.turns(), tenant.waitingNanos());
            }
        }
        json.writeEndArray();
        json.writeEndObject();
    }

    private static void row(JsonGenerator json, Number... numbers) {
        json.writeStartArray();
        for (Number number : numbers) {
            if (number instanceof Double fraction && fraction != fraction.longValue()) {
                json.writeNumber(fraction);
            } else {
                json.writeNumber(number.longValue());
            }
        }
        json.writeEndArray();
    }
}
