package sluice.agent.part;

import java.util.List;
import sluice.agent.http.Route;
import sluice.agent.settings.Setting;

/// A part of the agent that stands on its own beside the core: it says which settings it knows and which routes it answers, and
/// is told when to start. A part that fails to start stops the agent; one that fails later must keep it to itself.
public interface Part extends AutoCloseable {
    /// What the config file may say about this part.
    default List<Setting<?>> settings() {
        return List.of();
    }

    default List<Route> routes() {
        return List.of();
    }

    /// Called once, before the first look and before the sockets are there.
    default void start(AgentContext context) {}

    @Override
    default void close() {}
}
