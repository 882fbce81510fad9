package sluice.cli.tables;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import sluice.api.model.AuditFinding;
import sluice.api.model.AuditReport;
import sluice.cli.output.Screen;
import sluice.cli.output.Table;
import sluice.cli.output.Text;
import sluice.region.limits.Size;

/// The report of an audit, for people.
public final class AuditText {
    private static final int WIDTH = 120;
    private static final int COMMAND_WIDTH = 60;
    private static final int CONTAINER_WIDTH = 12;

    private AuditText() {}

    public static List<String> lines(AuditReport report, Instant now, Screen screen) {
        List<String> lines = new ArrayList<>();
        if (report.findings().isEmpty()) {
            lines.add("Every process on " + (report.gpus().size() == 1 ? "the GPU" : "the " + report.gpus().size() + " GPUs") + " is in order.");
        } else {
            lines.addAll(table(report, now).lines(screen, WIDTH));
        }
        for (AuditReport.Gpu gpu : report.gpus()) {
            gpu.health().forEach(word -> lines.add(screen.yellow("GPU " + gpu.index() + ": " + Text.visible(word))));
        }
        return lines;
    }

    private static Table table(AuditReport report, Instant now) {
        Table table = new Table("FINDING", ">GPU", ">PID", "USER", "CONTAINER", "TENANT", ">USED", ">LEDGER", ">SINCE", "DONE", "COMMAND");
        for (AuditFinding finding : report.findings()) {
            table.row(finding.kind(), gpu(report, finding), Long.toString(finding.pid()), user(finding.uid()),
                    orNothing(container(finding.container())), orNothing(Text.visible(finding.tenant())),
                    finding.usedBytes() < 0 ? Table.NOTHING : Size.format(finding.usedBytes()),
                    finding.kind().equals(AuditFinding.OVER) ? Size.format(finding.ledgerBytes()) : Table.NOTHING,
                    PsTable.age(finding.since().toEpochMilli() * 1_000_000, now), finding.action(),
                    Text.cut(Text.visible(finding.command()), COMMAND_WIDTH));
        }
        for (String column : List.of("CONTAINER", "TENANT", "LEDGER")) {
            table.omitIfEmpty(column);
        }
        return table;
    }

    private static String gpu(AuditReport report, AuditFinding finding) {
        return report.gpus().stream().filter(gpu -> gpu.uuid().equals(finding.gpuUuid())).map(gpu -> Integer.toString(gpu.index()))
                .findFirst().orElse(finding.gpuUuid());
    }

    /// As long as runtimes show it.
    private static String container(String id) {
        String visible = Text.visible(id);
        return visible.length() > CONTAINER_WIDTH ? visible.substring(0, CONTAINER_WIDTH) : visible;
    }

    private static String orNothing(String text) {
        return text.isEmpty() ? Table.NOTHING : text;
    }

    /// The name that `/etc/passwd` has, or the number.
    private static String user(long uid) {
        try {
            for (String line : Files.readAllLines(Path.of("/etc/passwd"), StandardCharsets.ISO_8859_1)) {
                String[] fields = line.split(":");
                if (fields.length > 2 && fields[2].equals(Long.toString(uid))) {
                    return Text.visible(fields[0]);
                }
            }
        } catch (IOException e) {
            // The number will do.
        }
        return Long.toString(uid);
    }

    /// A line below the tenants, if there are findings.
    public static Optional<String> footer(AuditReport report) {
        long processes = report.findings().stream().mapToLong(AuditFinding::pid).distinct().count();
        long ill = report.gpus().stream().filter(gpu -> !gpu.health().isEmpty()).count();
        List<String> parts = new ArrayList<>();
        if (processes > 0) {
            parts.add(processes == 1 ? "1 process uses a GPU past Sluice" : processes + " processes use GPUs past Sluice");
        }
        if (ill > 0) {
            parts.add(ill == 1 ? "1 GPU is not well" : ill + " GPUs are not well");
        }
        return parts.isEmpty() ? Optional.empty() : Optional.of(String.join(", ", parts) + "; 'sluice audit' tells more");
    }
}
