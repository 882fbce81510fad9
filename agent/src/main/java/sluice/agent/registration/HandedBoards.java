package sluice.agent.registration;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import sluice.agent.os.Descriptors;
import sluice.region.Board;
import sluice.region.Identity;
import sluice.region.RuntimeDirectory;
import sluice.region.SluiceException;

/// The boards on which registered tenants take turns: that in the folder of the agent's user for processes of this user, which meet
/// all others there, and another for strangers. All who have a board can write it, so this one is memory whose size is sealed: cut, it
/// would end the programs of the others. It lives as long as this process or any tenant that has it; the next agent finds it there.
final class HandedBoards implements AutoCloseable {
    private static final int MOST_BOARDS = 64;

    private final RuntimeDirectory directory;
    private final BoardRecord record;
    private final Map<String, Integer> boards = new HashMap<>();

    HandedBoards(RuntimeDirectory directory) {
        this.directory = directory;
        record = new BoardRecord(directory);
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

    /// Takes over the boards of an agent before this one from tenants that have them.
    synchronized void adopt(Set<Identity> processes, Consumer<String> problems) {
        record.find(processes, problems).forEach(this::keep);
    }

    private int make(String uuid) {
        if (boards.size() >= MOST_BOARDS) {
            throw new SluiceException("there are boards for " + MOST_BOARDS + " GPUs already; is this the number of a GPU?");
        }
        int made = Descriptors.memory(BoardRecord.MEMORY_NAME, Board.BYTES);
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment memory = Descriptors.map(made, Board.BYTES, arena);
            Descriptors.sealSize(made);
            Board.initialise(memory, HexFormat.of().parseHex(uuid));
        }
        keep(uuid, made);
        record.write(boards);
        return made;
    }

    private void keep(String uuid, int descriptor) {
        boards.put(uuid, descriptor);
        Board.add(directory, Descriptors.file(descriptor));
    }

    @Override
    public synchronized void close() {
        boards.values().forEach(board -> {
            Board.remove(directory, Descriptors.file(board));
            Descriptors.close(board);
        });
        boards.clear();
    }
}
