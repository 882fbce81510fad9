package sluice.it.machine;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import sluice.cuda.Driver;

/// A machine with a simulated GPU of its own: its own state file, its own runtime directory, so that tests do not meet.
/// Contexts take no memory on it unless a test says so, so that quotas come out even.
public final class Machine {
    /// The distribution, where the build put it.
    public static final Path BUILT = Path.of(System.getProperty("sluice.home"));
    /// The same by a short path without spaces, in whichever folder the checkout lies: LD_PRELOAD and scripts cannot name every other.
    public static final Path HOME = shortly();
    public static final Path LIBRARY = HOME.resolve("lib/libsluice.so");
    public static final Path SIM = HOME.resolve("lib/sim");
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    public final Path directory;
    private final Map<String, String> environment = new LinkedHashMap<>();
    private final List<Process> processes = new ArrayList<>();

    public Machine(Path directory) throws IOException {
        this.directory = directory;
        if (Files.notExists(runtimeDirectory())) {
            Files.createDirectory(runtimeDirectory(), PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
        }
        environment.put("SLUICE_RUNTIME_DIR", runtimeDirectory().toString());
        environment.put("SLUICE_SIM_STATE", directory.resolve("gpu").toString());
        environment.put("SLUICE_SIM_CONTEXT", "0");
    }

    private static Path shortly() {
        try {
            Path folder = Files.createTempDirectory(Path.of("/tmp"), "sluice-it-");
            Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwxr-xr-x"));
            Path link = Files.createSymbolicLink(folder.resolve("sluice"), BUILT);
            Runtime.getRuntime().addShutdownHook(new Thread(() -> {
                link.toFile().delete();
                folder.toFile().delete();
            }));
            return link;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    public Machine with(String key, String value) {
        environment.put(key, value);
        return this;
    }

    public Path runtimeDirectory() {
        return directory.resolve("run");
    }

    /// The library under the file name of an older tool.
    public static String link(String name) {
        return HOME.resolve("lib").resolve(name).toString();
    }

    /// One of the C test programs that the distribution carries.
    public static String program(String name) {
        return HOME.resolve("lib/test").resolve(name).toString();
    }

    /// The file of kernels that the test programs load.
    public String kernels() throws IOException {
        Path file = directory.resolve("kernels.ptx");
        if (Files.notExists(file)) {
            try (var text = Driver.class.getResourceAsStream("kernels.ptx")) {
                Files.copy(text, file);
            }
        }
        return file.toString();
    }

    /// Starts an agent with these lines in its file of settings, and waits for its greeting.
    public Process startAgent(String... settings) throws IOException {
        Path file = directory.resolve("agent.conf");
        var lines = new ArrayList<>(List.of(settings));
        lines.add("state-directory = " + directory.resolve("state"));
        Files.write(file, lines);
        Process agent = startSluice("agent", "--config", file.toString());
        awaitLine(agent, "Planning for the tenants");
        return agent;
    }

    /// What the agent answers to `GET path`, with the headers.
    public String askAgent(String path) throws IOException {
        try (SocketChannel channel = SocketChannel.open(StandardProtocolFamily.UNIX)) {
            channel.connect(UnixDomainSocketAddress.of(runtimeDirectory().resolve("agent.sock")));
            channel.write(ByteBuffer.wrap(("GET " + path + " HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n").getBytes(StandardCharsets.US_ASCII)));
            return new String(Channels.newInputStream(channel).readAllBytes(), StandardCharsets.UTF_8);
        }
    }

    /// `sluice …`
    public Outcome sluice(String... arguments) throws Exception {
        return await(startSluice(arguments));
    }

    public Process startSluice(String... arguments) throws IOException {
        var command = new ArrayList<>(List.of(HOME.resolve("bin/sluice").toString()));
        command.addAll(List.of(arguments));
        return start(Map.of(), command);
    }

    /// The program with this machine's settings and nothing else.
    public Outcome plain(String... command) throws Exception {
        return await(startPlain(command));
    }

    public Process startPlain(String... command) throws IOException {
        return start(Map.of(), List.of(command));
    }

    /// The program with the simulated driver in its library path and nothing of Sluice.
    public Outcome bare(String... command) throws Exception {
        return await(start(Map.of("LD_LIBRARY_PATH", SIM.toString()), List.of(command)));
    }

    /// The program with the library preloaded by hand, as without the command line.
    public Outcome preloaded(Map<String, String> settings, String... command) throws Exception {
        return await(startPreloaded(settings, command));
    }

    /// One of the C test programs with a quota; it must end well.
    public Outcome limited(String memory, String program, String... arguments) throws Exception {
        var command = new ArrayList<>(List.of(program(program)));
        command.addAll(List.of(arguments));
        Outcome outcome = preloaded(Map.of("SLUICE_MEMORY", memory), command.toArray(String[]::new));
        if (outcome.status() != 0) {
            throw new AssertionError("%s ended with status %d: %s%s".formatted(command, outcome.status(), outcome.output(), outcome.errors()));
        }
        return outcome;
    }

    public Process startPreloaded(Map<String, String> settings, String... command) throws IOException {
        var all = new LinkedHashMap<>(settings);
        all.putIfAbsent("LD_PRELOAD", LIBRARY.toString());
        all.putIfAbsent("LD_LIBRARY_PATH", SIM.toString());
        return start(all, List.of(command));
    }

    private Process start(Map<String, String> settings, List<String> command) throws IOException {
        var builder = new ProcessBuilder(command).directory(directory.toFile());
        builder.environment().keySet().removeIf(key -> key.startsWith("SLUICE_") || key.startsWith("CUDA_"));
        builder.environment().putAll(environment);
        builder.environment().putAll(settings);
        Process process = builder.start();
        processes.add(process);
        return process;
    }

    /// Ends what was started and still runs, and what that has started, the last one first.
    public void close() throws InterruptedException {
        for (Process process : processes.reversed()) {
            process.descendants().forEach(ProcessHandle::destroyForcibly);
            process.destroyForcibly().waitFor();
        }
    }

    /// The first line of the process that begins so.
    public static String awaitLine(Process process, String beginning) throws IOException {
        String line = process.inputReader().readLine();
        while (line != null && !line.startsWith(beginning)) {
            line = process.inputReader().readLine();
        }
        if (line == null) {
            throw new AssertionError("no line '%s…'; %s".formatted(beginning, String.join("\n", process.errorReader().readAllLines())));
        }
        return line;
    }

    /// So many further lines of the process that match, whichever come between.
    public static List<String> awaitLines(Process process, String pattern, int count) throws IOException {
        var lines = new ArrayList<String>();
        while (lines.size() < count) {
            String line = awaitLine(process, "");
            if (line.matches(pattern)) {
                lines.add(line);
            }
        }
        return lines;
    }

    /// How many pieces so many hogs have got together, if they all hold them until the machine is closed.
    public static long pieces(Process hogs, int count) throws IOException {
        return pieces(awaitLines(hogs, ".*got .*", count));
    }

    public static long pieces(List<String> lines) {
        return lines.stream().filter(line -> line.contains("got ")).mapToLong(line -> Long.parseLong(line.replaceAll(".*got (\\d+) .*", "$1"))).sum();
    }

    public static Outcome await(Process process) throws Exception {
        var errors = new StringBuilder();
        var reader = Thread.ofVirtual().start(() -> {
            try {
                errors.append(new String(process.getErrorStream().readAllBytes(), StandardCharsets.UTF_8));
            } catch (IOException e) {
                errors.append(e);
            }
        });
        var watchdog = Thread.ofVirtual().start(() -> {
            try {
                if (!process.waitFor(PATIENCE.toSeconds(), TimeUnit.SECONDS)) {
                    process.destroyForcibly();
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        });
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        int status = process.waitFor();
        reader.join();
        watchdog.join();
        return new Outcome(status, output, errors.toString());
    }

    public record Outcome(int status, String output, String errors) {
        public List<String> lines() {
            return output.lines().toList();
        }

        /// The value of the first output line `key=value`.
        public String value(String key) {
            return output.lines()
                    .filter(line -> line.startsWith(key + "="))
                    .map(line -> line.substring(key.length() + 1))
                    .findFirst()
                    .orElseThrow(() -> new AssertionError("no line %s=… in: %s%s".formatted(key, output, errors)));
        }
    }
}
