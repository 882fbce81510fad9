package sluice.agent.part;

import java.io.PrintStream;
import java.nio.file.Path;
import sluice.agent.history.History;
import sluice.agent.machine.Machine;
import sluice.agent.settings.Settings;
import sluice.region.place.RuntimeDirectory;

/// What a part of the agent may use.
///
/// @param settings  what the config file says
/// @param machine   looks; `listen` is told of each
/// @param directory where sockets of the agent are
/// @param state     where it may keep files that survive a restart
/// @param history   what was
/// @param health    when each part last finished
/// @param log       lines for who runs the agent
public record AgentContext(Settings settings, Machine machine, RuntimeDirectory directory, Path state, History history, Health health,
        PrintStream log) {
    /// Repeats the work of a part in a thread of its own.
    public Clock clock(String name, long periodMillis, Runnable action) {
        return new Clock(name, periodMillis, action, health, log);
    }
}
