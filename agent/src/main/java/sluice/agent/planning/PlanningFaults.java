package sluice.agent.planning;

import java.io.PrintStream;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import sluice.agent.machine.EventLog;
import sluice.agent.part.Health;
import sluice.region.place.RuntimeDirectory;

/// Reports faults of the planner: each once, as an event of the folder's user and in the log, and by `/healthz` as long as it lasts. A user
/// can damage the boards in its own folder, and a restart would not repair them, so the agent stays healthy.
final class PlanningFaults implements Planners.Faults {
    private static final String PART = "planning";
    /// A board that is being made cannot be read for a moment.
    private static final int LASTING = 3;

    private final EventLog events;
    private final Health health;
    private final PrintStream log;
    private final Map<Path, Fault> faults = new HashMap<>();

    /// @param seen in so many looks in a row
    private record Fault(String text, int seen) {}

    PlanningFaults(EventLog events, Health health, PrintStream log) {
        this.events = events;
        this.health = health;
        this.log = log;
    }

    @Override
    public void planned(RuntimeDirectory directory, Optional<String> fault) {
        if (fault.isEmpty() && faults.remove(directory.path()) == null) {
            return;
        }
        fault.ifPresent(text -> {
            Fault before = faults.get(directory.path());
            int seen = before == null ? 1 : before.seen() + 1;
            if (seen == LASTING || seen > LASTING && !before.text().equals(text)) {
                events.add("fault", "", directory.owner(), "turns are not planned as they should be: " + text);
                log.println("sluice: the planning for " + directory.path() + " failed: " + text);
            }
            faults.put(directory.path(), new Fault(text, seen));
        });
        long lasting = faults.values().stream().filter(each -> each.seen() >= LASTING).count();
        health.note(PART, lasting == 0 ? "" : "fails in " + lasting + (lasting == 1 ? " folder" : " folders") + "; the events and the log say why");
    }
}
