package sluice.proof;

import java.net.URI;
import java.net.URISyntaxException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import sluice.cuda.Driver;
import sluice.region.Region;

/// The command line that starts a probe with the Java runtime and the classes of this very process.
final class ProbeCommand {
    private static final List<String> QUICK_START = List.of("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1");
    private static final List<String> STEADY = List.of("-XX:+UseSerialGC", "-Xms64m", "-XX:-UsePerfData");

    private ProbeCommand() {}

    /// For checks: starts fast.
    static List<String> quick(Driver.Route route) {
        return command(QUICK_START, route);
    }

    /// For measurements: compiled as well as it gets.
    static List<String> steady() {
        return command(STEADY, Driver.Route.DLSYM);
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

    static Path java() {
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
