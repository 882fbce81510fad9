package sluice.agent;

import java.io.PrintStream;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import sluice.agent.audit.AuditOnce;
import sluice.agent.part.Part;
import sluice.agent.settings.Places;
import sluice.agent.settings.Setting;
import sluice.agent.settings.Settings;
import sluice.api.model.AuditReport;
import sluice.api.model.PlannedBoard;
import sluice.api.program.AgentProgram;
import sluice.region.place.RuntimeDirectory;

/// The agent as a service for the command line.
public final class ProvidedAgent implements AgentProgram {
    @Override
    public Optional<Path> usualConfig(Map<String, String> environment) {
        return Places.config(environment);
    }

    @Override
    public Configured configure(Optional<Path> config) {
        List<Part> parts = AgentService.parts();
        List<Setting<?>> known = AgentService.settings(parts);
        Settings settings = config.map(file -> Settings.read(file, known)).orElseGet(() -> Settings.standard(known));
        return new ConfiguredAgent(settings, parts);
    }

    private record ConfiguredAgent(Settings read, List<Part> parts) implements Configured {
        @Override
        public List<String> settings() {
            return read.describe();
        }

        @Override
        public Running open(RuntimeDirectory directory, Map<String, String> environment, Consumer<PlannedBoard> plans, PrintStream log) {
            return new AgentService(read, directory, environment, parts, plans, log);
        }
    }

    @Override
    public AuditReport audit(List<RuntimeDirectory> own) {
        return AuditOnce.make(own);
    }
}
