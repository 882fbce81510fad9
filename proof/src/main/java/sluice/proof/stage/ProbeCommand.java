package sluice.proof.stage;

import java.io.IOException;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import sluice.cuda.Driver;
import sluice.proof.probe.Probe;
import sluice.region.Region;

/// The command line that starts a probe with the Java runtime and the classes of this very process.
public final class ProbeCommand {
    private static final List<String> QUICK_START = List.of("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1");
    private static final List<String> STEADY = List.of("-XX:+UseSerialGC", "-Xms64m", "-XX:-UsePerfData");

    private static final Path TASKSET = Path.of("/usr/bin/taskset");

    private ProbeCommand() {}

    /// For checks: starts fast.
    static List<String> quick(Driver.Route route) {
        return command(QUICK_START, route);
    }

    /// For measurements: compiled as well as it gets, and on one and the same processor.
    public static List<String> steady() {
        return pinned(command(STEADY, Driver.Route.DLSYM));
    }

    /// On one and the same processor where `taskset` is installed, because the processors of a shared machine are not
    /// equally fast.
    public static List<String> pinned(List<String> command) {
        if (!Files.isExecutable(TASKSET)) {
            return command;
        }
        List<String> pinned = new ArrayList<>(List.of(TASKSET.toString(), "-c", lastProcessor()));
        pinned.addAll(command);
        return pinned;
    }

    /// For work that goes on for seconds: compiled as well as it gets, on any processor.
    static List<String> busy() {
        return command(STEADY, Driver.Route.DLSYM);
    }

    private static String lastProcessor() {
        try (Stream<String> lines = Files.lines(Path.of("/proc/self/status"))) {
            String allowed = lines.filter(line -> line.startsWith("Cpus_allowed_list:")).findFirst().orElse("0");
            return allowed.replaceFirst(".*\\D(\\d+)$", "$1");
        } catch (IOException unreadable) {
            return "0";
        }
    }

    private static List<String> command(List<String> options, Driver.Route route) {
        List<String> command = new ArrayList<>();
        command.add(java().toString());
        command.addAll(options);
        if (location(Probe.class).getScheme().equals("jrt")) {
            command.addAll(List.of("--enable-native-access=sluice.cuda,sluice.proof",
                    "-m", "sluice.proof/" + Probe.class.getName()));
        } else {
            command.addAll(List.of("--enable-native-access=ALL-UNNAMED", "-cp", classPath(), Probe.class.getName()));
        }
        command.add(route.name());
        return command;
    }

    public static Path java() {
        return Path.of(System.getProperty("java.home"), "bin", "java");
    }

    private static String classPath() {
        return Stream.of(Probe.class, Driver.class, Region.class)
                .map(type -> Path.of(location(type)).toString())
                .distinct()
                .collect(Collectors.joining(":"));
    }

    private static URI location(Class<?> type) {
        try {
            return type.getProtectionDomain().getCodeSource().getLocation().toURI();
        } catch (URISyntaxException impossible) {
            throw new IllegalStateException(impossible);
        }
    }
}
