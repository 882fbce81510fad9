package sluice.agent;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import sluice.agent.history.HistoryPart;
import sluice.agent.http.Route;
import sluice.agent.part.Part;
import sluice.agent.planning.PlanningPart;
import sluice.agent.settings.Settings;
import sluice.api.client.AgentClient;
import sluice.region.Region;
import sluice.region.RegionDraft;
import sluice.region.layout.GpuView;
import sluice.region.limits.MemoryLimits;
import sluice.region.limits.OnError;
import sluice.region.place.Identity;
import sluice.region.place.RuntimeDirectory;

/// An agent in this process, in a folder of its own, and tenants that are this process.
public final class RunningAgent implements AutoCloseable {
    private final Path folder;
    private final RuntimeDirectory directory;
    private final AgentService service;

    /// @param lines of the config file
    public RunningAgent(Path folder, String... lines) throws IOException {
        this(folder, List.of(), lines);
    }

    /// @param parts beside planning and history
    public RunningAgent(Path folder, List<Part> parts, String... lines) throws IOException {
        this(folder, Map.of(), parts, lines);
    }

    RunningAgent(Path folder, Map<String, String> environment, List<Part> parts, String... lines) throws IOException {
        this.folder = folder;
        directory = new RuntimeDirectory(Files.createDirectories(folder.resolve("run"),
                PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------"))));
        List<String> config = new ArrayList<>(List.of(lines));
        config.add("state-directory = " + folder.resolve("state"));
        config.add("history-size = 2m");
        Files.write(folder.resolve("agent.conf"), config);
        List<Part> all = new ArrayList<>(List.of(new PlanningPart(), new HistoryPart()));
        all.addAll(parts);
        Settings settings = Settings.read(folder.resolve("agent.conf"), AgentService.settings(all));
        service = new AgentService(settings, directory, environment, all, plan -> {}, System.err);
        service.start();
    }

    public RuntimeDirectory directory() {
        return directory;
    }

    public Path socket() {
        return directory.path().resolve("agent.sock");
    }

    public AgentClient client() {
        return new AgentClient(socket());
    }

    List<Route> routes() {
        return service.routes();
    }

    String token() throws IOException {
        return Files.readString(folder.resolve("state/token")).strip();
    }

    Path tenant(String name) {
        return Region.create(directory, new RegionDraft(name, "python " + name + ".py", Identity.self(), OnError.FAIL, MemoryLimits.parse("4g")));
    }

    /// A tenant that has used a GPU.
    public Path tenantOnGpu(String name) {
        Path file = tenant(name);
        try (Region region = Region.openReadWrite(file)) {
            GpuView gpu = region.gpu(0);
            gpu.totalBytes(1L << 30);
            gpu.name("a GPU");
            gpu.owner(1);
        }
        return file;
    }

    @Override
    public void close() {
        service.close();
    }
}
