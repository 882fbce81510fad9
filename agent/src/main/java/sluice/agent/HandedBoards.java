package sluice.agent;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.Map;
import sluice.region.Board;
import sluice.region.RuntimeDirectory;
import sluice.region.SluiceException;

/// The boards on which registered tenants take turns. All of them can write a board, so it is memory whose size is sealed: cut, it
/// would end the programs of the others. It is gone with this process and all tenants that have it; the next agent makes new ones.
final class HandedBoards implements AutoCloseable {
    private static final int MOST_BOARDS = 64;

    private final RuntimeDirectory directory;
    private final Map<String, Integer> boards = new HashMap<>();

    HandedBoards(RuntimeDirectory directory) {
        this.directory = directory;
    }

    /// The descriptor of a GPU's board. It stays open.
    synchronized int of(String uuid) {
        Integer known = boards.get(uuid);
        if (known != null) {
            return known;
        }
        if (boards.size() >= MOST_BOARDS) {
            throw new SluiceException("there are boards for " + MOST_BOARDS + " GPUs already; is this the number of a GPU?");
        }
        int made = Descriptors.memory("sluice-board", Board.BYTES);
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment memory = Descriptors.map(made, Board.BYTES, arena);
            Descriptors.sealSize(made);
            Board.initialise(memory, HexFormat.of().parseHex(uuid));
        }
        boards.put(uuid, made);
        Board.add(directory, file(made));
        return made;
    }

    private static Path file(int descriptor) {
        return Path.of("/proc/self/fd", Integer.toString(descriptor));
    }

    @Override
    public synchronized void close() {
        boards.values().forEach(board -> {
            Board.remove(directory, file(board));
            Descriptors.close(board);
        });
        boards.clear();
    }
}
