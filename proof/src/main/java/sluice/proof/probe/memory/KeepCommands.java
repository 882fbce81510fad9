package sluice.proof.probe.memory;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import sluice.cuda.Status;
import sluice.cuda.VirtualMemory;
import sluice.proof.facts.Facts;

/// Memory of random sizes with known contents, to see after a while whether each byte is still there.
public final class KeepCommands {
    private static final long CHUNK_BYTES = 16L << 20;
    private static final long SHIFTS = 1 << 16;
    private static final int LARGEST = 8;
    private static final long SEED = 11;
    /// Longer than a chunk: each chunk begins at another place in it. So a chunk that comes back at the address of another one is noticed.
    private static final MemorySegment PATTERN = pattern();
    private static final MemorySegment SEEN = Arena.global().allocate(CHUNK_BYTES);

    private static final List<Piece> PIECES = new ArrayList<>();

    private record Piece(long pointer, long bytes) {}

    private interface Way {
        Piece take(long bytes);
    }

    private interface Visit {
        void chunk(long pointer, MemorySegment expected);
    }

    private KeepCommands() {}

    /// `keep plain BYTES` by cuMemAlloc, `keep physical BYTES` by cuMemCreate, then `keep check`.
    public static Facts run(Session session, String verb, long[] numbers) {
        return switch (verb) {
            case "plain" -> take(session, numbers[0], bytes -> plain(session, bytes));
            case "physical" -> take(session, numbers[0], bytes -> physical(session, bytes));
            case "check" -> check(session);
            default -> throw new IllegalArgumentException("kept memory has no command '" + verb + "'");
        };
    }

    /// At least these bytes, in pieces of which small ones are more frequent.
    private static Facts take(Session session, long bytes, Way way) {
        Random random = new Random(SEED);
        long taken = 0;
        int first = PIECES.size();
        while (taken < bytes) {
            Piece piece = way.take(1 + (long) (Math.pow(random.nextDouble(), 3) * Math.min(bytes / LARGEST, bytes - taken)));
            PIECES.add(piece);
            taken += piece.bytes();
        }
        for (Piece piece : PIECES.subList(first, PIECES.size())) {
            visit(piece, (pointer, content) ->
                    Status.check("cuMemcpyHtoD", session.driver().memory().copyToDevice(pointer, content)));
        }
        return Facts.of("status", Status.SUCCESS, "pieces", PIECES.size() - first, "bytes", taken);
    }

    private static Piece plain(Session session, long bytes) {
        return new Piece(session.driver().memory().allocate(bytes).orThrow("cuMemAlloc"), bytes);
    }

    /// Held by its mapping alone.
    private static Piece physical(Session session, long bytes) {
        VirtualMemory memory = session.driver().virtualMemory();
        long granularity = memory.granularity(session.device()).orThrow("cuMemGetAllocationGranularity");
        long whole = (bytes + granularity - 1) / granularity * granularity;
        long handle = memory.create(whole, session.device()).orThrow("cuMemCreate");
        Facts mapped = PhysicalCommands.map(session, handle, whole);
        Status.check("cuMemMap", mapped.status());
        Status.check("cuMemRelease", memory.release(handle));
        return new Piece(mapped.number("pointer"), whole);
    }

    private static Facts check(Session session) {
        List<Long> wrong = new ArrayList<>();
        for (Piece piece : PIECES) {
            visit(piece, (pointer, expected) -> {
                MemorySegment seen = SEEN.asSlice(0, expected.byteSize());
                Status.check("cuMemcpyDtoH", session.driver().memory().copyToHost(seen, pointer));
                long at = seen.mismatch(expected);
                if (at >= 0) {
                    wrong.add(pointer + at);
                }
            });
        }
        return Facts.of("status", Status.SUCCESS, "pieces", PIECES.size(), "wrong", wrong.size(),
                "first", wrong.isEmpty() ? "none" : "0x" + Long.toHexString(wrong.getFirst()));
    }

    private static void visit(Piece piece, Visit visit) {
        for (long at = 0; at < piece.bytes(); at += CHUNK_BYTES) {
            long pointer = piece.pointer() + at;
            long shift = Long.remainderUnsigned(pointer * 0x9E3779B97F4A7C15L >>> 32, SHIFTS);
            visit.chunk(pointer, PATTERN.asSlice(shift, Math.min(CHUNK_BYTES, piece.bytes() - at)));
        }
    }

    private static MemorySegment pattern() {
        Random random = new Random(SEED);
        MemorySegment pattern = Arena.global().allocate(CHUNK_BYTES + SHIFTS, Long.BYTES);
        for (long at = 0; at < pattern.byteSize(); at += Long.BYTES) {
            pattern.set(ValueLayout.JAVA_LONG, at, random.nextLong());
        }
        return pattern;
    }
}
