package sluice.proof.probe;

import java.util.HashMap;
import java.util.Map;
import java.util.Random;
import sluice.cuda.CallResult;
import sluice.cuda.Status;
import sluice.cuda.VirtualMemory;
import sluice.proof.probe.memory.Session;

/// Physical memory, mapped once or twice, whose handles are released before or after.
final class SoakMappings {
    private static final long STEP_BYTES = 2L << 20;

    private record Mapped(long handle, boolean released, long bytes, long[] pointers) {}

    private final VirtualMemory memory;
    private final int device;
    private final Random random;
    private final Map<Long, Mapped> all = new HashMap<>();
    private long last;

    SoakMappings(Session session, Random random) {
        memory = session.driver().virtualMemory();
        device = session.device();
        this.random = random;
    }

    /// Its value names what was made.
    CallResult take() {
        long bytes = STEP_BYTES * (1 + random.nextInt(12));
        CallResult created = memory.create(bytes, device);
        if (!created.ok()) {
            return created;
        }
        long[] pointers = new long[random.nextInt(3)];
        for (int i = 0; i < pointers.length; i++) {
            pointers[i] = memory.reserve(bytes).orThrow("cuMemAddressReserve");
            Status.check("cuMemMap", memory.map(pointers[i], bytes, created.value()));
            Status.check("cuMemSetAccess", memory.allowAccess(pointers[i], bytes, device));
        }
        boolean release = pointers.length > 0 && random.nextBoolean();
        if (pointers.length > 0 && random.nextInt(4) == 0) {
            long again = memory.retain(pointers[0]).orThrow("cuMemRetainAllocationHandle");
            Status.check("cuMemRelease", memory.release(again));
        }
        if (release) {
            Status.check("cuMemRelease", memory.release(created.value()));
        }
        all.put(++last, new Mapped(created.value(), release, bytes, pointers));
        return new CallResult(Status.SUCCESS, last);
    }

    int give(long name) {
        Mapped one = all.remove(name);
        int worst = Status.SUCCESS;
        for (long pointer : one.pointers()) {
            worst = Math.max(worst, memory.unmap(pointer, one.bytes()));
            worst = Math.max(worst, memory.unreserve(pointer, one.bytes()));
        }
        return one.released() ? worst : Math.max(worst, memory.release(one.handle()));
    }
}
