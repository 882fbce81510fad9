package sluice.agent.part;

import java.io.PrintStream;
import java.nio.file.Path;
import sluice.agent.machine.Machine;
import sluice.agent.settings.Settings;
import sluice.region.RuntimeDirectory;

/// What a part of the agent may use.
///
/// @param settings  what the config file says
/// @param machine   looks; `listen` is told of each
/// @param directory where sockets of the agent are
/// @param state     where it may keep files that survive a restart
/// @param log       lines for who runs the agent
public record AgentContext(Settings settings, Machine machine, RuntimeDirectory directory, Path state, PrintStream log) {}
