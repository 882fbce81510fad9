package sluice.agent.alnair;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Predicate;
import sluice.region.place.SluiceException;

/// The container or user that owns each ALNAIR_ID. The record is in the agent's own folder, because containers can write their
/// workspaces.
final class AlnairOwners {
    private static final String FILE = "alnair-owners";
    private static final int MOST = 4096;

    private final Path file;
    private final Map<String, String> owners = new HashMap<>();

    private AlnairOwners(Path file) {
        this.file = file;
    }

    static AlnairOwners in(Path state) {
        AlnairOwners read = new AlnairOwners(state.resolve(FILE));
        try {
            if (Files.exists(read.file)) {
                Files.readAllLines(read.file).stream().map(line -> line.split(" ")).filter(words -> words.length == 2)
                        .forEach(words -> read.owners.put(words[0], words[1]));
            }
        } catch (IOException e) {
            throw new SluiceException("cannot read " + read.file + " (" + e.getMessage() + "); delete it: then each id belongs to the first user that asks for it", e);
        }
        return read;
    }

    Optional<String> of(String id) {
        return Optional.ofNullable(owners.get(id));
    }

    /// @param exists whether an id still has a workspace; if there are too many ids, those without one are forgotten
    void put(String id, String owner, Predicate<String> exists) {
        if (owners.size() >= MOST) {
            owners.keySet().removeIf(exists.negate());
        }
        if (owners.size() >= MOST) {
            throw new SluiceException("there are " + MOST + " workspaces already; remove those that have ended");
        }
        owners.put(id, owner);
        List<String> lines = owners.entrySet().stream().map(entry -> entry.getKey() + " " + entry.getValue()).sorted().toList();
        try {
            Path unfinished = Files.write(file.resolveSibling(FILE + ".tmp"), lines);
            Files.move(unfinished, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
        } catch (IOException e) {
            throw new SluiceException("the agent cannot write " + file, e);
        }
    }
}
