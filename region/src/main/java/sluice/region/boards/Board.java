package sluice.region.boards;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.time.Instant;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Stream;
import sluice.linux.Descriptor;
import sluice.region.FileFormat;
import sluice.region.MappedFile;
import sluice.region.layout.BoardHeaderView;
import sluice.region.layout.BoardLayout;
import sluice.region.layout.BoardProcessView;
import sluice.region.layout.BoardTenantView;
import sluice.region.layout.BoardTurnView;
import sluice.region.layout.LayoutPlaces;
import sluice.region.place.Processes;
import sluice.region.place.RuntimeDirectory;
import sluice.region.place.RuntimeFile;
import sluice.region.place.SluiceException;

/// The mapped file of one GPU, on which its tenants take turns. `spec/board.abi` says what each field means, and which process may write it
/// when. The libraries make boards and carry out plans; a tool reads boards, and may write plans.
public final class Board implements AutoCloseable {
    private static final String PREFIX = "board-";
    private static final int UUID_DIGITS = 32;

    /// The length of a board.
    public static final long BYTES = BoardLayout.BOARD_BYTES;
    private static final Map<RuntimeDirectory, List<Path>> WITHOUT_NAME = new ConcurrentHashMap<>();

    private static final FileFormat FORMAT = new FileFormat(BoardLayout.PLACES, BoardLayout.FEATURES);

    private final MappedFile mapped;
    private final LayoutPlaces places;

    private Board(MappedFile mapped, LayoutPlaces places) {
        this.mapped = mapped;
        this.places = places;
    }

    /// All boards in a folder, whether they can be read or not.
    public static List<Path> files(RuntimeDirectory directory) {
        return Stream.concat(named(directory).stream(), withoutName(directory).stream()).toList();
    }

    static List<Path> named(RuntimeDirectory directory) {
        return directory.files(PREFIX, "").stream().filter(file -> isBoardName(file.getFileName().toString())).sorted().toList();
    }

    static List<Path> withoutName(RuntimeDirectory directory) {
        return WITHOUT_NAME.getOrDefault(directory, List.of());
    }

    /// Counts an open file of this process among the boards of a folder.
    public static void add(RuntimeDirectory directory, Path file) {
        WITHOUT_NAME.computeIfAbsent(directory, added -> new CopyOnWriteArrayList<>()).add(file);
    }

    public static void remove(RuntimeDirectory directory, Path file) {
        WITHOUT_NAME.getOrDefault(directory, List.of()).remove(file);
    }

    /// Makes a board of zeroed memory that no other process has yet.
    public static void initialise(MemorySegment memory, byte[] uuid) {
        BoardHeaderView header = BoardHeaderView.of(memory);
        Instant now = Instant.now();
        header.magic(BoardLayout.MAGIC);
        header.pageBytes(BoardLayout.PAGE_BYTES);
        header.boardBytes(BoardLayout.BOARD_BYTES);
        header.createdNanos(now.getEpochSecond() * 1_000_000_000 + now.getNano());
        header.uuid(uuid);
        FileFormat.write(memory.asByteBuffer(), BoardLayout.PLACES, BoardLayout.REVISION, BoardLayout.FEATURES, BoardLayout.FEATURES_REQUIRED, BoardLayout.FEATURE_NAMES);
        header.layout(BoardLayout.LAYOUT);
    }

    /// The board of a GPU in a folder; made if it does not exist, as the libraries do.
    public static Path inFolder(RuntimeDirectory directory, byte[] uuid) {
        Path file = directory.path().resolve(PREFIX + HexFormat.of().formatHex(uuid));
        if (!Files.exists(file, LinkOption.NOFOLLOW_LINKS)) {
            BoardFile.create(file, uuid);
        }
        return file;
    }

    private static boolean isBoardName(String name) {
        boolean good = name.length() == PREFIX.length() + UUID_DIGITS;
        for (int at = PREFIX.length(); at < name.length(); at++) {
            good &= Character.digit(name.charAt(at), 16) >= 0;
        }
        return good;
    }

    /// Opens a board for a tool that looks.
    public static Board openReadOnly(Path file) {
        try {
            return checked(MappedFile.readOnly(file));
        } catch (IOException e) {
            throw cannotOpen(file, e);
        }
    }

    /// Opens the file of a board, to hand it to a process.
    public static Descriptor open(Path file) {
        try {
            return RuntimeFile.open(file, true);
        } catch (IOException e) {
            throw cannotOpen(file, e);
        }
    }

    /// Opens a board for a tool that plans.
    public static Board openReadWrite(Path file) {
        try {
            return checked(MappedFile.readWrite(file));
        } catch (IOException e) {
            throw cannotOpen(file, e);
        }
    }

    private static SluiceException cannotOpen(Path file, IOException e) {
        return new SluiceException("cannot open board " + file + " (" + SluiceException.reason(e)
                + "); only the user whose tenants share the GPU can", e);
    }

    private static Board checked(MappedFile mapped) {
        String problem = problem(mapped);
        Optional<LayoutPlaces> places = problem == null ? FORMAT.places(mapped.segment(), mapped.segment().byteSize()) : Optional.empty();
        if (places.isEmpty()) {
            mapped.close();
            throw new SluiceException("board " + mapped.file() + " " + (problem == null ? "has an invalid table of places" : problem)
                    + "; delete it when no tenant uses the GPU");
        }
        return new Board(mapped, places.get());
    }

    private static String problem(MappedFile mapped) {
        long bytes = mapped.segment().byteSize();
        if (bytes < BoardLayout.HEADER_BYTES || mapped.segment().get(ValueLayout.JAVA_LONG, 0) != BoardLayout.MAGIC) {
            return "is no board";
        }
        long layout = BoardHeaderView.of(mapped.segment()).layout();
        if (layout != BoardLayout.LAYOUT) {
            return "has layout " + layout + ", this sluice reads layout " + BoardLayout.LAYOUT;
        }
        if (bytes < BoardLayout.BOARD_BYTES) {
            return "has " + bytes + " bytes, " + BoardLayout.BOARD_BYTES + " are needed";
        }
        return FORMAT.problem(mapped.segment()).orElse(null);
    }

    public Path file() {
        return mapped.file();
    }

    public BoardHeaderView header() {
        return BoardHeaderView.of(mapped.segment(), places);
    }

    public BoardTurnView turn() {
        return BoardTurnView.of(mapped.segment(), places);
    }

    public BoardTenantView tenant(int entry) {
        return BoardTenantView.at(mapped.segment(), places, entry);
    }

    public BoardProcessView process(int entry) {
        return BoardProcessView.at(mapped.segment(), places, entry);
    }

    /// Where a process's entry lies in the file.
    long processPlace(int entry) {
        return places.offset(BoardLayout.PROCESS_PLACE, entry);
    }

    /// The present state of the board.
    public BoardState read() {
        return read(Processes.BY_PROC);
    }

    /// The same, for a caller that knows which processes live.
    public BoardState read(Processes known) {
        return new BoardReader(this, known).read();
    }

    @Override
    public void close() {
        mapped.close();
    }
}
