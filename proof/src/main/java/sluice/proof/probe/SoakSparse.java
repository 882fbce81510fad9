package sluice.proof.probe;

import java.util.HashMap;
import java.util.Map;
import java.util.Random;
import sluice.cuda.Arrays;
import sluice.cuda.CallResult;
import sluice.cuda.Status;
import sluice.cuda.VirtualMemory;
import sluice.proof.probe.memory.Session;

/// Sparse arrays with memory behind some of their rectangles, whose handles are released before or after.
final class SoakSparse {
    private static final long BYTES = 2L << 20;
    private static final int SIDE = 512;
    private static final int FLOATS = 0x20;

    /// @param places what is mapped; handles[i] is 0 when it was released already
    private record Sparse(long array, Arrays.Place[] places, long[] handles) {}

    private final Session session;
    private final Arrays arrays;
    private final VirtualMemory memory;
    private final Random random;
    private final Map<Long, Sparse> all = new HashMap<>();

    SoakSparse(Session session, Random random) {
        this.session = session;
        this.random = random;
        arrays = session.driver().arrays();
        memory = session.driver().virtualMemory();
    }

    /// Its value is the array. One for which there was no memory is destroyed again.
    CallResult take() {
        int count = 1 + random.nextInt(4);
        long array = arrays.createSparse(new Arrays.Shape(SIDE, (long) SIDE * count, 0, FLOATS, 1)).orThrow("cuArray3DCreate");
        Sparse sparse = new Sparse(array, new Arrays.Place[count], new long[count]);
        all.put(array, sparse);
        for (int i = 0; i < count; i++) {
            CallResult created = memory.createTiles(BYTES, session.device());
            if (!created.ok()) {
                Status.check("the end of a sparse array", give(array));
                return created;
            }
            sparse.handles()[i] = created.value();
            sparse.places()[i] = new Arrays.Place(array, 0, SIDE * i, SIDE, SIDE);
            Status.check("cuMemMapArrayAsync", arrays.map(sparse.places()[i], created.value(), session.device(), session.stream()));
            if (random.nextBoolean()) {
                Status.check("cuMemRelease", memory.release(created.value()));
                sparse.handles()[i] = 0;
            }
        }
        return new CallResult(Status.SUCCESS, array);
    }

    /// Some rectangles are unmapped; the array's end does that for the others.
    int give(long array) {
        Sparse sparse = all.remove(array);
        int worst = Status.SUCCESS;
        for (int i = 0; i < sparse.places().length && sparse.places()[i] != null; i++) {
            if (random.nextBoolean()) {
                worst = Math.max(worst, arrays.unmap(sparse.places()[i], session.device(), session.stream()));
            }
            if (sparse.handles()[i] != 0) {
                worst = Math.max(worst, memory.release(sparse.handles()[i]));
            }
        }
        return Math.max(worst, arrays.destroy(array));
    }
}
