package sluice.agent.part;

import java.util.List;
import sluice.agent.http.Route;
import sluice.agent.settings.Setting;

/// A part of the agent beside the core. It names its settings, routes and metrics, and the core starts it. If a part fails to start, the
/// agent stops; a later failure must not affect other parts.
///
/// The agent finds its parts as services: a new part is named in `provides` of a module descriptor, and nowhere else.
public interface Part extends AutoCloseable {
    /// The settings of this part.
    default List<Setting<?>> settings() {
        return List.of();
    }

    /// Asked for once the part has started.
    default List<Route> routes() {
        return List.of();
    }

    /// Read at every scrape, once the part has started.
    default List<PartMetric> metrics() {
        return List.of();
    }

    /// Called once, before the first look and before the sockets are there.
    default void start(AgentContext context) {}

    /// Called once, when the sockets are there and the agent begins to look.
    default void begin() {}

    @Override
    default void close() {}
}
