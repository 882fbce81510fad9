package sluice.agent.registration;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import sluice.linux.Descriptor;
import sluice.linux.SharedMemory;
import sluice.region.boards.Board;
import sluice.region.place.Identity;
import sluice.region.place.RuntimeDirectory;
import sluice.region.place.SluiceException;

/// The boards on which registered tenants take turns. Processes of the agent's user get the board in that user's folder, where they meet
/// all others of the user. Other users get another board. Every process with a board can write it, so this board is memory with a sealed
/// size: if it were truncated, programs of other users would be killed. It lives as long as this process or any tenant that has it, and the
/// next agent finds it there.
final class HandedBoards implements AutoCloseable {
    private static final int MOST_BOARDS = 64;

    private final RuntimeDirectory directory;
    private final BoardRecord record;
    private final Map<String, Descriptor> boards = new HashMap<>();

    HandedBoards(RuntimeDirectory directory) {
        this.directory = directory;
        record = new BoardRecord(directory);
    }

    /// A descriptor of a GPU's board.
    ///
    /// @param stays true: the agent keeps it for other tenants; false: the sender closes it
    record Handed(Descriptor descriptor, boolean stays) {}

    /// The board in the folder, on which tenants without an agent take turns. A process that has it can truncate it. All processes of the
    /// folder's user can do that anyway, so only they get it.
    Handed inFolder(String uuid) {
        return new Handed(Board.open(Board.inFolder(directory, HexFormat.of().parseHex(uuid))), false);
    }

    synchronized Handed sealed(String uuid) {
        Descriptor known = boards.get(uuid);
        return new Handed(known != null ? known : make(uuid), true);
    }

    /// Takes over the boards of an agent before this one from tenants that have them.
    synchronized void adopt(Set<Identity> processes, Consumer<String> problems) {
        record.find(processes, problems).forEach(this::keep);
    }

    private Descriptor make(String uuid) {
        if (boards.size() >= MOST_BOARDS) {
            throw new SluiceException("there are boards for " + MOST_BOARDS + " GPUs already; is this the number of a GPU?");
        }
        try (Arena arena = Arena.ofConfined()) {
            Descriptor made = SharedMemory.create(BoardRecord.MEMORY_NAME, Board.BYTES);
            MemorySegment memory = SharedMemory.map(made, Board.BYTES, true, arena);
            SharedMemory.sealSize(made);
            Board.initialise(memory, HexFormat.of().parseHex(uuid));
            keep(uuid, made);
            record.write(boards);
            return made;
        } catch (IOException e) {
            throw new SluiceException("cannot make a board for GPU " + uuid + " (" + SluiceException.reason(e) + ")", e);
        }
    }

    private void keep(String uuid, Descriptor descriptor) {
        boards.put(uuid, descriptor);
        Board.add(directory, descriptor.path());
    }

    @Override
    public synchronized void close() {
        boards.values().forEach(board -> {
            Board.remove(directory, board.path());
            board.close();
        });
        boards.clear();
    }
}
