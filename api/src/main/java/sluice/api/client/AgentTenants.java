package sluice.api.client;

import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import sluice.api.json.JsonTree;
import sluice.api.json.OperationJson;
import sluice.api.json.StatJson;
import sluice.api.json.TenantJson;
import sluice.api.limits.LimitsBody;
import sluice.api.model.ClaimPlace;
import sluice.api.pause.FollowedOperation;
import sluice.api.pause.PauseBody;
import sluice.region.LimitsChange;
import sluice.region.Tenant;
import sluice.region.boards.BoardState;
import sluice.region.calls.TenantCalls;
import sluice.region.place.RuntimeDirectory;
import sluice.region.place.SluiceException;

/// The tenants of an agent, read through its socket, for a user that cannot read their regions.
public final class AgentTenants {
    private final AgentClient client;
    private final String path;
    private List<JsonTree> tenants = List.of();
    private boolean fresh;

    private AgentTenants(AgentClient client, List<RuntimeDirectory> directories) {
        this.client = client;
        path = "/v1/tenants?outside=" + encoded(String.join(",", directories.stream().map(known -> known.path().toString()).toList()));
    }

    /// The agent that serves this user, if it answers. Tenants in some folders are left out.
    public static Optional<AgentTenants> find(List<RuntimeDirectory> directories) {
        for (Path socket : AgentSockets.of(directories)) {
            if (Files.exists(socket)) {
                try {
                    AgentTenants found = at(socket, directories);
                    found.ask();
                    found.fresh = true;
                    return Optional.of(found);
                } catch (SluiceException e) {
                    // The socket of a killed agent, or an agent of another version: the regions are enough.
                }
            }
        }
        return Optional.empty();
    }

    /// The agent at a socket, whether it answers or not.
    public static AgentTenants at(Path socket, List<RuntimeDirectory> leftOut) {
        return new AgentTenants(new AgentClient(socket), leftOut);
    }

    /// The present tenants. The first call returns the answer by which the agent was found.
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
        return tenants.stream().map(TenantJson::read).toList();
    }

    /// Where the claims of a cluster are, by the names of their tenants: of all that the agent shows this user, also those whose regions can be read here.
    public Map<String, ClaimPlace> claims() {
        Map<String, ClaimPlace> claims = new HashMap<>();
        for (JsonTree tenant : answer(client.get("/v1/tenants")).at("tenants").elements()) {
            if (tenant.has("claim")) {
                JsonTree claim = tenant.at("claim");
                claims.put(tenant.at("tenant").text(), new ClaimPlace(claim.at("namespace").text(), claim.at("pod").text(), claim.at("container").text(), claim.at("claim").text()));
            }
        }
        return claims;
    }

    /// Their entries on boards.
    public List<BoardState> boards() {
        return tenants.stream().flatMap(tenant -> TenantJson.readBoards(tenant).stream()).toList();
    }

    /// Changes limits as `sluice set` does.
    public Tenant set(Tenant tenant, LimitsChange change) {
        return TenantJson.read(answer(client.ask("PATCH", "/v1/tenants/" + encoded(tenant.name()) + "/limits?uid=" + tenant.uid(), LimitsBody.write(change))));
    }

    /// Its counters.
    public TenantCalls calls(Tenant tenant) {
        return StatJson.read(answer(client.get("/v1/tenants/" + encoded(tenant.name()) + "/stat?uid=" + tenant.uid())));
    }

    /// Begins a pause or a resume as `sluice pause` does.
    public FollowedOperation operate(Tenant tenant, PauseBody wanted) {
        String what = wanted.kind().isPause() ? "/pause?uid=" : "/resume?uid=";
        return new AgentOperation(client, OperationJson.read(answer(
                client.ask("POST", "/v1/tenants/" + encoded(tenant.name()) + what + tenant.uid(), wanted.write()))));
    }

    static String encoded(String text) {
        return URLEncoder.encode(text, StandardCharsets.UTF_8).replace("+", "%20");
    }

    static JsonTree answer(AgentClient.Response response) {
        JsonTree json = JsonTree.parse(response.body());
        if (response.status() != 200 && response.status() != 202) {
            throw new SluiceException(json.has("error") ? json.at("error").text() : "the agent answered " + response.status());
        }
        return json;
    }
}
