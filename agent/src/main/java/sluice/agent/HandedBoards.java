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

/// The boards on which registered tenants take turns: that in the folder of the agent's user for processes of this user, which meet
/// all others there, and another for strangers. All who have a board can write it, so this one is memory whose size is sealed: cut, it
/// would end the programs of the others. It is gone with this process and all tenants that have it; the next agent makes new ones.
final class HandedBoards implements AutoCloseable {
    private static final int MOST_BOARDS = 64;

    private final RuntimeDirectory directory;
    private final Map<String, Integer> boards = new HashMap<>();

    HandedBoards(RuntimeDirectory directory) {
        this.directory = directory;
    }

    /// A descriptor of a GPU's board.
    ///
    /// @param stays it is of this agent and for others too; if not, who has sent it closes it
    record Handed(int descriptor, boolean stays) {}

    /// The board in the folder, on which tenants without an agent take turns. Who has it can cut it, as all processes of the folder's
    /// user can, and only they should.
    Handed inFolder(String uuid) {
        return new Handed(Descriptors.open(Board.inFolder(directory, HexFormat.of().parseHex(uuid))), false);
    }

    synchronized Handed sealed(String uuid) {
        Integer known = boards.get(uuid);
        return new Handed(known != null ? known : make(uuid), true);
    }

    private int make(String uuid) {
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
