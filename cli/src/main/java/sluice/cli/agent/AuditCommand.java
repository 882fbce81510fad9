package sluice.cli.agent;

import java.io.PrintWriter;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import sluice.api.client.AgentAudit;
import sluice.api.json.AuditJson;
import sluice.api.model.AuditReport;
import sluice.api.program.AgentProgram;
import sluice.cli.output.AnyCommand;
import sluice.cli.output.ExitStatus;
import sluice.cli.output.Json;
import sluice.cli.output.Screen;
import sluice.cli.tables.AuditText;
import sluice.cuda.Nvml;
import sluice.region.place.RuntimeDirectory;
import sluice.region.place.SluiceException;

@Command(
        name = "audit",
        header = "Lists processes that use a GPU past Sluice, and faults of GPUs.",
        description = {
            "",
            "Compares NVML's list of the processes on each GPU with the ledgers of all tenants: 'unknown' is a process in no",
            "ledger, 'over' a process that holds more than its ledger says. It shows the findings of the agent. Without an",
            "agent it looks for a second by itself: root at the processes of all users, other users at their own.",
            ""
        },
        footer = {"", "Exit status: 0 nothing found, 1 there are findings, or no GPU can be asked."})
public final class AuditCommand extends AnyCommand implements Callable<Integer> {
    @Option(names = "--json", description = "Writes JSON.")
    private boolean json;

    @Override
    public Integer call() {
        List<RuntimeDirectory> directories = RuntimeDirectory.existing(System.getenv());
        AuditReport report = AgentAudit.find(directories).filter(AuditReport::audited).orElseGet(() -> AgentProgram.find().audit(directories));
        if (!report.audited()) {
            throw new SluiceException("no GPU can be asked: " + Nvml.LIBRARY + " is missing or finds no driver; 'sluice doctor' tells more");
        }
        PrintWriter out = spec.commandLine().getOut();
        if (json) {
            Json.write(out, json -> AuditJson.write(json, report));
        } else {
            AuditText.lines(report, Instant.now(), Screen.standard()).forEach(out::println);
        }
        return status(report);
    }

    static int status(AuditReport report) {
        return report.findings().isEmpty() ? ExitStatus.OK : ExitStatus.CHECK_FAILED;
    }
}
