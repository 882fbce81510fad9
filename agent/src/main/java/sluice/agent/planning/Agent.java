package sluice.agent.planning;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import sluice.api.model.PlannedBoard;
import sluice.region.boards.Board;
import sluice.region.boards.BoardFiles;
import sluice.region.place.Processes;
import sluice.region.place.RuntimeDirectory;
import sluice.region.place.SluiceException;

/// Plans for all GPUs of a user's tenants. It keeps its whole state on the boards. So a new agent goes on from the last plan, and that plan
/// stays when the agent ends.
public final class Agent implements AutoCloseable {
    private final RuntimeDirectory directory;
    private final Processes processes;
    private final Consumer<PlannedBoard> changes;
    private final Map<Path, Watched> boards = new HashMap<>();
    private final BoardFiles named;
    private final Regions regions = new Regions();
    private Optional<String> fault = Optional.empty();

    /// @param changes gets every plan that differs from the one before
    public Agent(RuntimeDirectory directory, Consumer<PlannedBoard> changes) {
        this(directory, Processes.BY_PROC, changes);
    }

    Agent(RuntimeDirectory directory, Processes processes, Consumer<PlannedBoard> changes) {
        this.directory = directory;
        named = new BoardFiles(directory);
        this.processes = processes;
        this.changes = changes;
    }

    /// A board that is open, its file, and the last reported plan.
    private record Watched(BoardPlanner planner, Object file, PlannedBoard told) {}

    /// Looks at every board once and plans. @return why a board is not planned for, if there is one
    public Optional<String> look() {
        fault = Optional.empty();
        List<Path> files = named.now();
        Set<Path> gone = new HashSet<>(boards.keySet());
        files.forEach(gone::remove);
        gone.forEach(this::forget);
        Set<Long> keys = new HashSet<>();
        for (Path file : files) {
            Watched watched = watch(file);
            if (watched != null) {
                PlannedBoard now = watched.planner().plan(regions);
                now.turns().forEach(turn -> keys.add(turn.key()));
                tell(file, watched, now);
            }
        }
        regions.retain(keys);
        return fault;
    }

    private Watched watch(Path path) {
        try {
            Object file = Files.readAttributes(path, BasicFileAttributes.class).fileKey();
            if (boards.containsKey(path) && !boards.get(path).file().equals(file)) {
                forget(path);
            }
            return boards.computeIfAbsent(path, made -> new Watched(
                    new BoardPlanner(directory, Board.openReadWrite(path), processes), file, new PlannedBoard("", List.of())));
        } catch (NoSuchFileException e) {
            return null;
        } catch (SluiceException | IOException e) {
            fault = Optional.of(e.getMessage());
            return null;
        }
    }

    private void tell(Path file, Watched watched, PlannedBoard now) {
        if (now.differsFrom(watched.told())) {
            boards.put(file, new Watched(watched.planner(), watched.file(), now));
            changes.accept(now);
        }
    }

    private void forget(Path path) {
        Watched watched = boards.remove(path);
        if (watched != null) {
            watched.planner().close();
        }
    }

    @Override
    public void close() {
        new ArrayList<>(boards.keySet()).forEach(this::forget);
        regions.close();
    }
}
