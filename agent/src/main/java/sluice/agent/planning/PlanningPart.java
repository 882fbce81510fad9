package sluice.agent.planning;

import java.time.Duration;
import java.util.List;
import sluice.agent.part.AgentContext;
import sluice.agent.part.Clock;
import sluice.agent.part.Part;
import sluice.agent.settings.Setting;

/// The planning of turns as a part of the agent, with a clock of its own.
public final class PlanningPart implements Part {
    private static final Setting<Duration> EVERY = Setting.time("plan-every", "100ms", Duration.ofMillis(10), Duration.ofSeconds(10),
            "how often turns are planned");

    private AgentContext context;
    private Planners planners;
    private Clock clock;

    @Override
    public List<Setting<?>> settings() {
        return List.of(EVERY);
    }

    @Override
    public void start(AgentContext started) {
        context = started;
        planners = new Planners(started.directory(), started.machine()::directories, started.processes(), started.plans(),
                new PlanningFaults(started.machine().events(), started.health(), started.log()));
    }

    @Override
    public void begin() {
        clock = context.clock("planning", context.settings().get(EVERY).toMillis(), this::plan);
    }

    /// Only a look shows that a process has ended, so this asks for a look soon.
    private void plan() {
        if (context.processes().poll()) {
            context.machine().soon();
        }
        planners.plan();
    }

    @Override
    public void close() {
        if (clock != null) {
            clock.close();
        }
        planners.close();
    }
}
