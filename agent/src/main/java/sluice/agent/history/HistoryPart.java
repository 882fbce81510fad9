package sluice.agent.history;

import java.util.List;
import sluice.agent.http.Route;
import sluice.agent.part.AgentContext;
import sluice.agent.part.Part;
import sluice.agent.part.PartMetric;
import sluice.agent.settings.Setting;

/// The history as a part of the agent: it keeps every look of the clock, and serves the past.
public final class HistoryPart implements Part {
    private static final Setting<Long> SIZE = Setting.size("history-size", "16m", 1L << 30, "the most that the history takes on disk");

    private History history;

    @Override
    public List<Setting<?>> settings() {
        return List.of(SIZE);
    }

    @Override
    public List<Route> routes() {
        return new HistoryRoutes(history).routes();
    }

    @Override
    public List<PartMetric> metrics() {
        return List.of(new PartMetric("sluice_agent_history_samples_dropped_total",
                "Samples that the history did not keep, because there are more series than places; the busiest are kept.",
                () -> history.droppedSamples()));
    }

    @Override
    public void start(AgentContext context) {
        history = new History(context.state(), context.settings().get(SIZE), context.log());
        context.machine().listen(history::see);
    }

    @Override
    public void close() {
        history.close();
    }
}
