package sluice.agent.planning;

import java.nio.file.Path;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Supplier;
import sluice.api.model.PlannedBoard;
import sluice.region.place.AgentLock;
import sluice.region.place.Processes;
import sluice.region.place.RuntimeDirectory;
import sluice.region.place.SluiceException;

/// Plans for every folder that no other agent plans for. The caller has the lock of its own folder already.
public final class Planners implements AutoCloseable {
    private static final long SEARCH_PERIOD_NANOS = 2_000_000_000L;

    private record Planned(RuntimeDirectory directory, Agent agent, Optional<AgentLock> lock) {}

    /// Called after each planning for a folder.
    public interface Faults {
        /// @param fault the fault, for people; empty: none
        void planned(RuntimeDirectory directory, Optional<String> fault);
    }

    private final RuntimeDirectory own;
    private final Supplier<List<RuntimeDirectory>> directories;
    private final Processes processes;
    private final Consumer<PlannedBoard> plans;
    private final Faults faults;
    private final Map<Path, Planned> planned = new HashMap<>();
    private long searchedNanos;

    public Planners(RuntimeDirectory own, Supplier<List<RuntimeDirectory>> directories, Processes processes, Consumer<PlannedBoard> plans,
            Faults faults) {
        this.own = own;
        this.directories = directories;
        this.processes = processes;
        this.plans = plans;
        this.faults = faults;
        planned.put(own.path(), planned(own, Optional.empty()));
    }

    public void plan() {
        long now = System.nanoTime();
        if (now - searchedNanos > SEARCH_PERIOD_NANOS) {
            searchedNanos = now;
            search();
        }
        planned.replaceAll((path, each) -> look(each));
    }

    private Planned planned(RuntimeDirectory directory, Optional<AgentLock> lock) {
        return new Planned(directory, new Agent(directory, processes, plans), lock);
    }

    /// A user that truncates a file that is mapped here stops the planning of that user alone, until it is started again.
    private Planned look(Planned each) {
        try {
            faults.planned(each.directory(), each.agent().look());
            return each;
        } catch (RuntimeException | InternalError | StackOverflowError e) {
            faults.planned(each.directory(), Optional.of(e.toString()));
            each.agent().close();
            return planned(each.directory(), each.lock());
        }
    }

    private void search() {
        Set<Path> gone = new HashSet<>(planned.keySet());
        for (RuntimeDirectory directory : directories.get()) {
            gone.remove(directory.path());
            if (!planned.containsKey(directory.path())) {
                take(directory).ifPresent(lock -> planned.put(directory.path(), planned(directory, Optional.of(lock))));
            }
        }
        gone.remove(own.path());
        gone.forEach(path -> close(planned.remove(path)));
    }

    private static Optional<AgentLock> take(RuntimeDirectory directory) {
        try {
            return AgentLock.take(directory, ProcessHandle.current().pid());
        } catch (SluiceException e) {
            return Optional.empty();
        }
    }

    private static void close(Planned each) {
        each.agent().close();
        each.lock().ifPresent(AgentLock::close);
    }

    @Override
    public void close() {
        planned.values().forEach(Planners::close);
    }
}
