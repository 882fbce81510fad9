package sluice.cli.tenants;

import java.io.PrintWriter;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import sluice.api.json.TenantJson;
import sluice.api.model.EarlierLook;
import sluice.api.model.OnBoards;
import sluice.cli.output.AnyCommand;
import sluice.cli.output.Json;
import sluice.cli.output.Screen;
import sluice.cli.tables.InspectText;
import sluice.region.Tenant;

@Command(
        name = "inspect",
        header = "Shows the whole region of a tenant, decoded, and its entries on the boards of its GPUs.",
        description = {"", "It only reads, and also shows ended tenants.", ""})
public final class InspectCommand extends AnyCommand implements Runnable {
    @Parameters(paramLabel = "TENANT", description = "Name, beginning of a name, pid, or path of a region file.")
    private String tenant;

    @Option(names = "--json", description = "Writes JSON.")
    private boolean json;

    @Override
    public void run() {
        SeenTenants tenants = new SeenTenants(System.getenv());
        Tenant found = tenants.find(tenant);
        OnBoards boards = tenants.boards(found);
        PrintWriter out = spec.commandLine().getOut();
        if (json) {
            Json.write(out, json -> TenantJson.write(json, found, EarlierLook.NONE, boards));
        } else {
            List<String> lines = InspectText.lines(found, boards, Instant.now(), Screen.standard(), Optional.ofNullable(tenants.claims().get(found.name())));
            lines.forEach(out::println);
        }
    }
}
