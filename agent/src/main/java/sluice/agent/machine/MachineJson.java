package sluice.agent.machine;

import java.time.Instant;
import java.util.List;
import java.util.OptionalInt;
import java.util.function.Function;
import sluice.agent.machine.MachineLook.BoardLook;
import sluice.agent.machine.MachineLook.GpuLook;
import sluice.agent.machine.MachineLook.Rates;
import sluice.agent.machine.MachineLook.TenantLook;
import sluice.api.json.AuditJson;
import sluice.api.json.TenantJson;
import sluice.api.model.EarlierLook;
import sluice.api.model.OnBoards;
import sluice.region.Tenant;
import sluice.region.boards.BoardTenant;
import tools.jackson.core.JsonGenerator;

/// The machine for programs. Tenants are as `sluice ps --json` writes them, with their recent activity.
final class MachineJson {
    private MachineJson() {}

    static void machine(JsonGenerator json, MachineLook look, boolean withEvents) {
        machine(json, look, withEvents, tenant -> OptionalInt.empty());
    }

    /// @param ids by which a stream tells of changes
    static void machine(JsonGenerator json, MachineLook look, boolean withEvents, Function<Tenant, OptionalInt> ids) {
        json.writeStartObject();
        json.writeNumberProperty("look", look.number());
        json.writeNumberProperty("atNanos", nanos(look.at()));
        json.writeArrayPropertyStart("gpus");
        look.gpus().forEach(gpu -> gpu(json, gpu));
        json.writeEndArray();
        tenants(json, look.tenants(), look.onBoards(), ids);
        json.writeArrayPropertyStart("boards");
        look.boards().forEach(board -> board(json, board));
        json.writeEndArray();
        AuditJson.findings(json, look.findings());
        if (withEvents) {
            json.writeArrayPropertyStart("events");
            look.events().forEach(event -> event(json, event));
            json.writeEndArray();
        }
        json.writeEndObject();
    }

    static void tenants(JsonGenerator json, List<TenantLook> tenants, OnBoards boards) {
        tenants(json, tenants, boards, tenant -> OptionalInt.empty());
    }

    private static void tenants(JsonGenerator json, List<TenantLook> tenants, OnBoards boards, Function<Tenant, OptionalInt> ids) {
        json.writeArrayPropertyStart("tenants");
        tenants.forEach(look -> tenant(json, look, boards, ids.apply(look.tenant())));
        json.writeEndArray();
    }

    static void tenant(JsonGenerator json, TenantLook look, OnBoards boards) {
        tenant(json, look, boards, OptionalInt.empty());
    }

    static void tenant(JsonGenerator json, TenantLook look, OnBoards boards, OptionalInt id) {
        json.writeStartObject();
        id.ifPresent(number -> json.writeNumberProperty("id", number));
        TenantJson.properties(json, look.tenant(), EarlierLook.NONE, boards);
        look.claim().ifPresent(claim -> {
            json.writeObjectPropertyStart("claim");
            json.writeStringProperty("namespace", claim.namespace());
            json.writeStringProperty("pod", claim.pod());
            json.writeStringProperty("container", claim.container());
            json.writeStringProperty("claim", claim.claim());
            json.writeEndObject();
        });
        json.writeNumberProperty("callsPerSecond", look.callsPerSecond());
        json.writeArrayPropertyStart("rates");
        for (int at = 0; at < look.rates().size(); at++) {
            rates(json, look.tenant().gpus().get(at).uuid(), look.rates().get(at));
        }
        json.writeEndArray();
        json.writeEndObject();
    }

    private static void rates(JsonGenerator json, String uuid, Rates rates) {
        json.writeStartObject();
        json.writeStringProperty("uuid", uuid);
        json.writeNumberProperty("overNanos", rates.overNanos());
        json.writeNumberProperty("gotPermille", rates.gotPermille());
        json.writeNumberProperty("submittedPerSecond", rates.submittedPerSecond());
        json.writeNumberProperty("refusedPerSecond", rates.refusedPerSecond());
        json.writeNumberProperty("capWaitedPermille", rates.capWaitedPermille());
        json.writeNumberProperty("turnWaitedPermille", rates.turnWaitedPermille());
        json.writeEndObject();
    }

    static void gpu(JsonGenerator json, GpuLook gpu) {
        json.writeStartObject();
        json.writeNumberProperty("gpu", gpu.index());
        json.writeStringProperty("uuid", gpu.uuid());
        json.writeStringProperty("name", gpu.name());
        json.writeNumberProperty("totalBytes", gpu.totalBytes());
        json.writeNumberProperty("usedBytes", gpu.usedBytes());
        json.writeNumberProperty("tenantsBytes", gpu.tenantsBytes());
        json.writeNumberProperty("utilizationPercent", gpu.utilizationPercent());
        json.writeNumberProperty("temperatureCelsius", gpu.temperatureCelsius());
        json.writeArrayPropertyStart("health");
        gpu.health().forEach(json::writeString);
        json.writeEndArray();
        json.writeStringProperty("architecture", gpu.facts().architecture());
        json.writeStringProperty("capability", gpu.facts().capability());
        json.writeStringProperty("driver", gpu.facts().driver());
        json.writeEndObject();
    }

    static void board(JsonGenerator json, BoardLook board) {
        json.writeStartObject();
        json.writeStringProperty("uuid", board.state().uuid());
        json.writeNumberProperty("uid", board.uid());
        json.writeStringProperty("holder", board.holder().orElse(""));
        json.writeNumberProperty("handOvers", board.state().handOvers());
        json.writeNumberProperty("seized", board.state().seized());
        json.writeNumberProperty("handOversPerSecond", board.handOversPerSecond());
        json.writeNumberProperty("seizedPerSecond", board.seizedPerSecond());
        json.writeArrayPropertyStart("tenants");
        for (BoardTenant tenant : board.state().tenants()) {
            json.writeStartObject();
            json.writeStringProperty("tenant", tenant.name());
            json.writeBooleanProperty("holds", tenant.holds());
            json.writeBooleanProperty("wants", tenant.wants());
            json.writeNumberProperty("lengthNanos", tenant.lengthNanos());
            json.writeNumberProperty("heldNanos", tenant.heldNanos());
            json.writeNumberProperty("turns", tenant.turns());
            json.writeNumberProperty("waitingNanos", tenant.waitingNanos());
            json.writeEndObject();
        }
        json.writeEndArray();
        json.writeEndObject();
    }

    static void event(JsonGenerator json, Event event) {
        json.writeStartObject();
        json.writeNumberProperty("event", event.number());
        json.writeNumberProperty("atNanos", nanos(event.at()));
        json.writeStringProperty("kind", event.kind());
        json.writeStringProperty("tenant", event.tenant());
        json.writeNumberProperty("uid", event.uid());
        json.writeStringProperty("text", event.text());
        json.writeEndObject();
    }

    static long nanos(Instant at) {
        return at.getEpochSecond() * 1_000_000_000L + at.getNano();
    }
}
