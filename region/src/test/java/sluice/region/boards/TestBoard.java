package sluice.region.boards;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.HexFormat;
import sluice.region.layout.BoardLayout;
import sluice.region.layout.BoardTenantView;
import sluice.region.place.Identity;
import sluice.region.place.RuntimeDirectory;

/// Boards for tests, as a library would make them.
final class TestBoard {
    static final String UUID = "00112233445566778899aabbccddeeff";

    private TestBoard() {}

    static Path create(RuntimeDirectory directory) throws IOException {
        Path file = directory.path().resolve("board-" + UUID);
        try (Arena arena = Arena.ofConfined();
                FileChannel channel = FileChannel.open(file, StandardOpenOption.CREATE_NEW, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            MemorySegment segment = channel.map(FileChannel.MapMode.READ_WRITE, 0, BoardLayout.BOARD_BYTES, arena);
            Board.initialise(segment, HexFormat.of().parseHex(UUID));
        }
        return file;
    }

    static void tenant(Board board, int entry, long key, Identity root) {
        BoardTenantView tenant = board.tenant(entry);
        tenant.rootIdentity(root.word());
        tenant.weight(1);
        tenant.name("tenant" + entry);
        tenant.owner(key);
    }
}
