package sluice.agent.part;

import java.io.PrintStream;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Consumer;
import sluice.agent.machine.Machine;
import sluice.agent.os.WatchedProcesses;
import sluice.agent.settings.Settings;
import sluice.api.model.PlannedBoard;
import sluice.region.place.RuntimeDirectory;

/// The objects that a part of the agent may use.
///
/// @param settings  the values of the config file
/// @param machine   looks; a listener gets each look
/// @param processes the check for live processes that looks and plans use
/// @param directory the folder of the agent's sockets
/// @param state     a folder for files that survive a restart
/// @param health    when each part last finished
/// @param metrics   of all parts
/// @param plans     gets every plan that differs from the one before
/// @param log       lines for the administrator
public record AgentContext(Settings settings, Machine machine, WatchedProcesses processes, RuntimeDirectory directory, Path state, Health health,
        List<PartMetric> metrics, Consumer<PlannedBoard> plans, PrintStream log) {
    public AgentContext {
        metrics = List.copyOf(metrics);
    }

    /// Repeats the work of a part in a thread of its own.
    public Clock clock(String name, long periodMillis, Runnable action) {
        return new Clock(name, periodMillis, action, health, log);
    }
}
