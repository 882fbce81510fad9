package sluice.agent.client;

import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import sluice.agent.json.JsonTree;
import sluice.agent.json.StatParser;
import sluice.agent.json.TenantParser;
import sluice.agent.limits.LimitsBody;
import sluice.agent.settings.Places;
import sluice.region.LimitsChange;
import sluice.region.Tenant;
import sluice.region.TenantGpu;
import sluice.region.boards.BoardState;
import sluice.region.boards.BoardTenant;
import sluice.region.calls.TenantCalls;
import sluice.region.place.RuntimeDirectory;
import sluice.region.place.SluiceException;

/// The tenants that an agent knows, seen through its socket: for who cannot read their regions.
public final class AgentTenants {
    private final AgentClient client;
    private final String path;
    private List<JsonTree> tenants = List.of();
    private boolean fresh;

    private AgentTenants(AgentClient client, List<RuntimeDirectory> directories) {
        this.client = client;
        path = "/v1/tenants?outside=" + encoded(String.join(",", directories.stream().map(known -> known.path().toString()).toList()));
    }

    /// The agent that serves this user, if there is one that answers. The tenants in some folders are left out.
    public static Optional<AgentTenants> find(List<RuntimeDirectory> directories) {
        for (Path socket : Places.sockets(directories)) {
            if (Files.exists(socket)) {
                try {
                    AgentTenants found = at(socket, directories);
                    found.ask();
                    found.fresh = true;
                    return Optional.of(found);
                } catch (SluiceException e) {
                    // Left by an agent that was killed, or of another version: what the regions say is enough.
                }
            }
        }
        return Optional.empty();
    }

    static AgentTenants at(Path socket, List<RuntimeDirectory> leftOut) {
        return new AgentTenants(new AgentClient(socket), leftOut);
    }

    /// What they are now. The first look is that by which the agent was found.
    public List<Tenant> look() {
        if (!fresh) {
            ask();
        }
        fresh = false;
        return list();
    }

    private void ask() {
        tenants = answer(client.get(path)).at("tenants").elements();
    }

    public List<Tenant> list() {
        return tenants.stream().map(TenantParser::tenant).toList();
    }

    /// Where they stand on boards.
    public List<BoardState> boards() {
        List<BoardState> boards = new ArrayList<>();
        for (JsonTree json : tenants) {
            Tenant tenant = TenantParser.tenant(json);
            for (int at = 0; at < tenant.gpus().size(); at++) {
                JsonTree gpu = json.at("gpus").elements().get(at);
                if (gpu.has("turns")) {
                    boards.add(board(tenant, tenant.gpus().get(at), gpu.at("turns")));
                }
            }
        }
        return boards;
    }

    private static BoardState board(Tenant tenant, TenantGpu gpu, JsonTree json) {
        BoardTenant entry = new BoardTenant(0, tenant.createdNanos(), tenant.name(), tenant.compute().weight(), tenant.compute().priority(),
                tenant.compute().exclusive(), tenant.compute().turnMicros(), json.at("planNanos").number(), json.at("balanceNanos").number(),
                json.at("heldNanos").number(), json.at("turns").number(), json.at("holds").isTrue(), false, json.at("waitingNanos").number(),
                (int) json.at("processes").number());
        return new BoardState(tenant.file(), gpu.uuid(), System.nanoTime(), 0, 0, 0, 0, List.of(entry));
    }

    public Tenant set(Tenant tenant, LimitsChange change) {
        return TenantParser.tenant(answer(client.ask("PATCH", "/v1/tenants/" + encoded(tenant.name()) + "/limits?uid=" + tenant.uid(), LimitsBody.write(change))));
    }

    /// Its counters.
    public TenantCalls calls(Tenant tenant) {
        return StatParser.calls(answer(client.get("/v1/tenants/" + encoded(tenant.name()) + "/stat?uid=" + tenant.uid())));
    }

    private static String encoded(String text) {
        return URLEncoder.encode(text, StandardCharsets.UTF_8).replace("+", "%20");
    }

    private static JsonTree answer(AgentClient.Response response) {
        JsonTree json = JsonTree.parse(response.body());
        if (response.status() != 200) {
            throw new SluiceException(json.has("error") ? json.at("error").text() : "the agent answered " + response.status());
        }
        return json;
    }
}
