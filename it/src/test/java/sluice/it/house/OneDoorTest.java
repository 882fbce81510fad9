package sluice.it.house;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/// Root's agent and tools open the files of other users in one module only, `linux`. A class elsewhere that opens files by name is in the
/// list below. The list says why no other user can have made what it opens.
class OneDoorTest {
    private static final Pattern OPENS = Pattern.compile(
            "\\bFiles\\.(?!exists|notExists|isRegularFile|isDirectory|isExecutable|isWritable|readSymbolicLink|getAttribute|getPosix|size)\\w+\\("
                    + "|FileChannel\\.open\\(|new File(Input|Output|Reader|Writer)|RandomAccessFile|new PrintStream\\(\"|\\.toFile\\(\\)");
    private static final Pattern BINDS = Pattern.compile("Linker\\.nativeLinker\\(\\)|SymbolLookup");
    private static final Path ROOT = Path.of("..");
    private static final List<String> ROOMS = List.of("region", "api", "agent", "trace", "cli", "planner", "prometheus");

    /// Why, and which classes.
    private static final Map<String, List<String>> ALLOWED = Map.of(
            "an open file, by its descriptor", List.of("region/AgentLock", "region/RuntimeFile", "agent/PublishedFile", "cli/PreloadCheck", "cli/TopInput",
                    "cli/TopTerminal"),
            "files of the kernel's", List.of("region/Identity", "region/ProcessStat", "region/ThisProcess", "agent/AuditedProcess", "agent/BoardRecord",
                    "agent/ContainerId", "agent/CpuCost", "agent/HostMemory", "agent/MetricsOfAgent", "agent/RegisteringPeer", "cli/Exec", "cli/GpusThere", "cli/RawProcess", "cli/SliceDriver"),
            "asks for times and owners, opens nothing", List.of("agent/Agent", "cli/Doctor", "cli/GpuDoctor"),
            "the folder or the state of this very user, or of root", List.of("region/BoardFile", "region/Installation", "region/RegionFile",
                    "region/RuntimeDirectory", "region/Sweep", "region/Tenants",
                    "agent/AlnairOwners", "agent/ApiServer", "agent/EndedTenants", "agent/HandedLimits", "agent/History", "agent/Places", "agent/RegisteredTenants",
                    "agent/RegistrationPart", "api/RunRegistration", "agent/Token", "cli/DriverSearch", "cli/RunTenant", "cli/Training", "cli/TrainingAgent"),
            "settings that the administrator writes, and the users of the machine", List.of("agent/CoreSettings", "agent/Policy", "agent/PolicyFile", "agent/Settings",
                    "agent/Metrics", "agent/MetricsAlnair", "cli/AuditText"),
            "the target of a trace, a report or a bench, and a trace to read, which the user names", List.of("cli/OutFolder", "cli/ReportCommand", "cli/TraceTarget", "trace/LiveRing", "trace/ProcessFiles", "trace/RingFile", "trace/TraceFolder", "trace/TraceFormat",
                    "trace/TraceNames", "trace/TraceRecorder", "trace/TraceText"));

    private static Stream<Path> sources(String room) throws IOException {
        return Files.walk(ROOT.resolve(room).resolve("src/main/java")).filter(file -> file.toString().endsWith(".java"));
    }

    private static String name(String room, Path file) {
        return room + "/" + file.getFileName().toString().replace(".java", "");
    }

    @Test
    void shouldOpenTheFilesOfOthersInOneModule() throws IOException {
        Map<String, String> opening = new TreeMap<>();
        for (String room : ROOMS) {
            for (Path file : sources(room).toList()) {
                var found = OPENS.matcher(Files.readString(file));
                if (found.find()) {
                    opening.put(name(room, file), found.group());
                }
            }
        }

        assertThat(opening.keySet()).as("open files by name: %s", opening).isSubsetOf(ALLOWED.values().stream().flatMap(List::stream).toList());
    }

    @Test
    void shouldBindTheFunctionsOfTheSystemInOneModule() throws IOException {
        for (String room : ROOMS) {
            for (Path file : sources(room).toList()) {
                assertThat(BINDS.matcher(Files.readString(file)).find()).as("%s binds native functions; let the module linux do it", name(room, file)).isFalse();
            }
        }
    }
}
