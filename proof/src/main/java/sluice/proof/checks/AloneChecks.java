package sluice.proof.checks;

import static sluice.proof.stage.Stage.GIB;
import static sluice.proof.stage.Stage.MIB;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import sluice.cuda.Status;
import sluice.proof.facts.Expect;
import sluice.proof.facts.Facts;
import sluice.proof.stage.ProbeProcess;
import sluice.proof.stage.Stage;
import sluice.proof.stage.TestTenant;
import sluice.region.limits.Size;

/// The library with environment variables alone: no command line tool, no daemon.
public final class AloneChecks {

    private AloneChecks() {}

    public static List<Check> checks() {
        return List.of(
                new Check(Group.ALONE, "SLUICE_MEMORY=2g holds", stage -> holds(stage, Map.of("SLUICE_MEMORY", "2g"))),
                new Check(Group.ALONE, "CUDA_DEVICE_MEMORY_LIMIT=2g holds",
                        stage -> holds(stage, Map.of("CUDA_DEVICE_MEMORY_LIMIT", "2g"))),
                new Check(Group.ALONE, "children share the quota", AloneChecks::children),
                new Check(Group.ALONE, "processes with the same SLUICE_TENANT share the quota", AloneChecks::named),
                new Check(Group.ALONE, "without settings the library changes nothing", AloneChecks::nothingSet),
                new Check(Group.ALONE, "limits in the environment do not change those of the tenant", AloneChecks::otherLimits),
                new Check(Group.ALONE, "2Gi and 4GB are read as people mean them", AloneChecks::sizes),
                new Check(Group.ALONE, "bad SLUICE_MEMORY: warns and runs without a limit", AloneChecks::nonsenseRuns),
                new Check(Group.ALONE, "bad SLUICE_MEMORY with SLUICE_ON_ERROR=fail: CUDA calls fail", AloneChecks::nonsenseFails),
                new Check(Group.ALONE, "a region that is none, with SLUICE_ON_ERROR=fail: CUDA calls fail", AloneChecks::noRegion));
    }

    private static String holds(Stage stage, Map<String, String> settings) {
        ProbeProcess probe = Stage.open(stage.alone(settings));
        Facts info = probe.ask("info");
        Expect.bytes("total of cuMemGetInfo", 2 * GIB, info.number("total"));
        long most = info.number("free") / 10 * 6;
        Expect.success("60 % of what is free", probe.alloc(most).status());
        Expect.refused("as much again", probe.alloc(most).status());
        Expect.that(probe.stderr().isEmpty(), "it wrote to stderr: " + probe.stderr());
        return Size.format(most) + " allowed, as much again refused";
    }

    private static String children(Stage stage) {
        ProbeProcess parent = Stage.open(stage.alone(Map.of("SLUICE_MEMORY", "4g")));
        long most = parent.ask("info").number("free") / 10 * 6;
        Expect.success("60 % of what is free, in the parent", parent.alloc(most).status());
        Expect.refused("as much in the child", parent.ask("spawn", "alloc", most).status());
        Expect.success("300 MiB in the child", parent.ask("spawn", "alloc", 300 * MIB).status());
        return "parent holds " + Size.format(most) + " of 4 GiB: child gets 300 MiB, not as much again";
    }

    /// Both make the region: the first to come creates it, the other joins.
    private static String named(Stage stage) {
        Map<String, String> settings = Map.of("SLUICE_MEMORY", "4g", "SLUICE_TENANT", "shared");
        List<ProbeProcess> probes = List.of(stage.alone(settings), stage.alone(settings), stage.alone(settings));
        probes.forEach(probe -> probe.tell("open"));
        probes.forEach(probe -> Expect.success("opening the GPU", probe.answer("open").status()));
        TestTenant tenant = new TestTenant(stage.runtimeDirectory().region("shared"));
        long most = tenant.roomBytes() / (16 * MIB);
        probes.forEach(probe -> probe.tell("fill-up", 16 * MIB));
        long got = probes.stream().mapToLong(probe -> probe.answer("fill-up").number("count")).sum();
        Expect.that(got <= most, "they got " + got + " pieces of 16 MiB, room was for " + most);
        Expect.that(got >= most - 4, "they got only " + got + " pieces of 16 MiB, room was for " + most);
        return "three processes started together got " + got + " pieces of 16 MiB";
    }

    private static String nothingSet(Stage stage) throws IOException {
        Facts without = stage.bare().ask("info");
        Facts with = Stage.open(stage.alone(Map.of())).ask("info");
        Expect.bytes("total of cuMemGetInfo", without.number("total"), with.number("total"));
        try (Stream<Path> files = Files.list(stage.runtimeDirectory().path())) {
            List<String> regions = files.map(file -> file.getFileName().toString())
                    .filter(name -> name.contains(".region"))
                    .toList();
            Expect.that(regions.isEmpty(), "it made " + regions);
        }
        return "total as without, no region made";
    }

    /// As when a shell or a job script sets its own.
    private static String otherLimits(Stage stage) {
        TestTenant tenant = stage.tenant(2 * GIB);
        for (Map<String, String> settings : List.of(
                Map.of("SLUICE_MEMORY", "64g", "SLUICE_TENANT", "other"), Map.of("CUDA_DEVICE_MEMORY_LIMIT", "0"),
                Map.of("CUDA_DISABLE_CONTROL", "true"))) {
            ProbeProcess probe = stage.in(tenant, settings);
            Expect.bytes("total of cuMemGetInfo with " + settings, 2 * GIB, probe.ask("info").number("total"));
            Expect.refused("2 GiB with " + settings, probe.alloc(2 * GIB).status());
            probe.kill();
        }
        return "2.0 GiB, whatever the variables say";
    }

    private static String sizes(Stage stage) {
        Map<String, Long> sizes = Map.of("2Gi", 2 * GIB, "4GB", 4 * GIB, "1.5g", 3 * GIB / 2);
        sizes.forEach((text, bytes) -> {
            for (String variable : List.of("SLUICE_MEMORY", "CUDA_DEVICE_MEMORY_LIMIT")) {
                ProbeProcess probe = Stage.open(stage.alone(Map.of(variable, text)));
                Expect.bytes("total with " + variable + "=" + text, bytes, probe.ask("info").number("total"));
                probe.kill();
            }
        });
        return "2Gi, 4GB and 1.5g";
    }

    private static String nonsenseRuns(Stage stage) {
        ProbeProcess probe = Stage.open(stage.alone(Map.of("SLUICE_MEMORY", "4x")));
        Expect.success("600 MiB", probe.alloc(600 * MIB).status());
        return "it said: " + warning(probe, "4x");
    }

    private static String nonsenseFails(Stage stage) {
        ProbeProcess probe = stage.alone(Map.of("SLUICE_MEMORY", "4x", "SLUICE_ON_ERROR", "fail"));
        Expect.status("cuInit", Status.NOT_PERMITTED, probe.ask("open").status());
        return "it said: " + warning(probe, "4x");
    }

    private static String noRegion(Stage stage) throws IOException {
        Path file = stage.runtimeDirectory().path().resolve("none.region");
        Files.writeString(file, "this is not a region");
        Map<String, String> settings = new HashMap<>();
        settings.put("SLUICE_REGION", file.toString());
        settings.put("SLUICE_ON_ERROR", "fail");
        ProbeProcess probe = stage.alone(settings);
        Expect.status("cuInit", Status.NOT_PERMITTED, probe.ask("open").status());
        return "it said: " + warning(probe, "none.region");
    }

    /// The one line on stderr, which names the bad value.
    private static String warning(ProbeProcess probe, String value) {
        List<String> lines = probe.stderr();
        Expect.that(lines.size() == 1 && lines.getFirst().startsWith("sluice: ") && lines.getFirst().contains(value),
                "stderr should be one line 'sluice: …' that names " + value + ", but is " + lines);
        return lines.getFirst();
    }
}
