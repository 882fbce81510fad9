package sluice.agent.registration;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import sluice.linux.Descriptor;
import sluice.linux.SharedMemory;
import sluice.region.boards.Board;
import sluice.region.place.Identity;
import sluice.region.place.RuntimeDirectory;
import sluice.region.place.SluiceException;

/// A record of each GPU's board in memory, for the next agent. Memory without a name cannot be opened by name. But tenants have it mapped,
/// and the kernel lets root, or a process with CAP_CHECKPOINT_RESTORE, open mappings of another process.
///
/// Tenants can map anything under any name. So the record is in the agent's own folder, and the agent takes only memory with the recorded
/// number and a sealed size.
final class BoardRecord {
    static final String MEMORY_NAME = "sluice-board";
    private static final String FILE = "handed-boards";
    private static final String MAPPED_AS = "/memfd:" + MEMORY_NAME;

    private final Path file;

    BoardRecord(RuntimeDirectory directory) {
        file = directory.path().resolve(FILE);
    }

    /// @param boards descriptors by the UUIDs of GPUs
    void write(Map<String, Descriptor> boards) {
        List<String> lines = new ArrayList<>();
        try {
            for (Map.Entry<String, Descriptor> board : boards.entrySet()) {
                lines.add(board.getKey() + " " + board.getValue().status().inode());
            }
            Path unfinished = Files.write(file.resolveSibling(FILE + ".tmp"), lines);
            Files.move(unfinished, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
        } catch (IOException e) {
            throw new SluiceException("the agent cannot write " + file + " (" + SluiceException.reason(e) + "); free space there", e);
        }
    }

    private Map<String, String> read() {
        Map<String, String> gpus = new HashMap<>();
        try {
            if (Files.exists(file)) {
                Files.readAllLines(file).stream().map(line -> line.split(" ")).filter(words -> words.length == 2)
                        .forEach(words -> gpus.put(words[1], words[0]));
            }
        } catch (IOException e) {
            // Then new ones are made.
        }
        return gpus;
    }

    /// The recorded boards that some processes have, open, by the UUIDs of GPUs.
    Map<String, Descriptor> find(Set<Identity> processes, Consumer<String> problems) {
        Map<String, String> wanted = read();
        Map<String, Descriptor> found = new HashMap<>();
        for (Identity process : processes) {
            if (found.size() == wanted.size()) {
                break;
            }
            for (String[] mapping : mappings(process.pid())) {
                String uuid = wanted.get(mapping[1]);
                if (uuid != null && !found.containsKey(uuid)) {
                    open(process.pid(), mapping[0], mapping[1], uuid, problems).ifPresent(descriptor -> found.put(uuid, descriptor));
                }
            }
        }
        return found;
    }

    /// Addresses and numbers of all mappings with the name of a board.
    private static List<String[]> mappings(long pid) {
        List<String[]> mappings = new ArrayList<>();
        try (BufferedReader lines = Files.newBufferedReader(Path.of("/proc", Long.toString(pid), "maps"), StandardCharsets.ISO_8859_1)) {
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                String[] words = line.split(" +", 6);
                if (words.length == 6 && words[5].startsWith(MAPPED_AS)) {
                    mappings.add(new String[] {words[0], words[4]});
                }
            }
        } catch (IOException e) {
            // It has ended.
        }
        return mappings;
    }

    private static Optional<Descriptor> open(long pid, String address, String number, String uuid, Consumer<String> problems) {
        try {
            Descriptor descriptor = Board.open(Path.of("/proc", Long.toString(pid), "map_files", address));
            try (Board board = Board.openReadOnly(descriptor.path())) {
                if (SharedMemory.isSizeSealed(descriptor) && Long.toString(descriptor.status().inode()).equals(number)
                        && HexFormat.of().formatHex(board.header().uuid()).equals(uuid)) {
                    return Optional.of(descriptor);
                }
            } catch (SluiceException | IOException e) {
                // A board of another layout, or memory that is no board.
            }
            descriptor.close();
        } catch (SluiceException e) {
            problems.accept("the board of GPU " + uuid + " cannot be taken over, so jobs that run and jobs that come do not take turns with each other;"
                    + " start the agent as root, or with CAP_CHECKPOINT_RESTORE and CAP_SYS_PTRACE");
        }
        return Optional.empty();
    }
}
