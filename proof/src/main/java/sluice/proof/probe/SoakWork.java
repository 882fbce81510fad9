package sluice.proof.probe;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.function.IntSupplier;
import java.util.function.Supplier;
import sluice.cuda.Arrays;
import sluice.cuda.CallResult;
import sluice.cuda.Driver;
import sluice.cuda.Memory;
import sluice.cuda.Status;
import sluice.proof.probe.memory.ContextCommands;
import sluice.proof.probe.memory.Session;

/// Random steps through every way to take memory. Each piece is kept together with the way to free it.
final class SoakWork {
    private static final int MOST_HELD = 60;
    private static final int LARGEST_POWER = 25;
    private static final int BLOCK_BYTES = 2 << 20;
    private static final int FLOATS = 0x20;
    private static final long STACK_BYTES = 1024;

    private record Held(String what, IntSupplier free) {}

    private record Take(String what, Supplier<CallResult> take) {}

    private final Session session;
    private final Driver driver;
    private final Memory memory;
    private final Random random;
    private final List<Held> held = new ArrayList<>();
    private final SoakMappings mappings;
    private final SoakGraphs graphs;
    private final SoakSparse sparse;
    private final List<Take> ways;
    private final boolean contexts;
    private boolean stackIsLarger;
    private long ownPool;
    private String last = "";

    /// @param contexts whether to make contexts, too
    SoakWork(Session session, long seed, boolean contexts) {
        this.session = session;
        this.contexts = contexts;
        driver = session.driver();
        memory = driver.memory();
        random = new Random(seed);
        mappings = new SoakMappings(session, random);
        graphs = new SoakGraphs(session);
        sparse = new SoakSparse(session, random);
        ways = List.of(
                new Take("cuMemAlloc", this::linear), new Take("cuMemAlloc", this::linear), new Take("cuMemAlloc", this::linear),
                new Take("cuMemAllocPitch", this::pitched), new Take("cuMemAllocManaged", this::managed),
                new Take("cuMemAllocAsync", this::async), new Take("cuMemAllocAsync", this::async),
                new Take("cuMemAllocFromPoolAsync", this::fromOwnPool), new Take("cuArrayCreate", this::array),
                new Take("cuArray3DCreate", this::array3D), new Take("cuMipmappedArrayCreate", this::mipmapped),
                new Take("cuMemCreate", this::physical), new Take("cuMemCreate", this::physical), new Take("cuGraphLaunch", this::graph),
                new Take("cuModuleLoadData", this::module), new Take("cuLibraryLoadData", this::library), new Take("cuCtxCreate", this::context),
                new Take("cuCtxSetLimit", this::stack), new Take("cuMemMapArrayAsync", this::sparseArray));
    }

    /// The last step, for a message.
    String last() {
        return last;
    }

    /// One random step; its status.
    int step() {
        if (held.size() < MOST_HELD && random.nextInt(100) < 55) {
            Take way = ways.get(random.nextInt(ways.size()));
            last = way.what();
            return way.take().get().status();
        }
        if (random.nextInt(20) == 0) {
            return settle();
        }
        return held.isEmpty() ? Status.SUCCESS : free(random.nextInt(held.size()));
    }

    int freeAll() {
        int worst = Status.SUCCESS;
        while (!held.isEmpty()) {
            worst = Math.max(worst, free(held.size() - 1));
        }
        return worst;
    }

    private int free(int index) {
        Held one = held.remove(index);
        last = "the end of what " + one.what() + " gave";
        return one.free().getAsInt();
    }

    private int settle() {
        last = "a trim";
        return switch (random.nextInt(3)) {
            case 0 -> driver.work().synchronizeStream(session.stream());
            case 1 -> driver.pools().trim(driver.pools().ofDevice(session.device()).value(), 0);
            default -> driver.graphs().trim(session.device());
        };
    }

    /// Mostly small, up to 32 MiB.
    private long size() {
        return 1 + (random.nextLong() >>> 1) % (1L << 1 + random.nextInt(LARGEST_POWER));
    }

    private CallResult hold(CallResult answer, IntSupplier free) {
        if (answer.ok()) {
            held.add(new Held(last, free));
        }
        return answer;
    }

    private CallResult linear() {
        CallResult answer = memory.allocate(size());
        boolean inStream = random.nextInt(4) == 0;
        return hold(answer, () -> inStream ? memory.freeAsync(answer.value(), session.stream()) : memory.free(answer.value()));
    }

    private CallResult pitched() {
        Memory.Pitched pitched = memory.allocatePitched(1 + random.nextInt(4000), 1 + random.nextInt(4000), 4);
        return hold(new CallResult(pitched.status(), pitched.pointer()), () -> memory.free(pitched.pointer()));
    }

    /// Touched at once, because the driver takes it only then.
    private CallResult managed() {
        long bytes = size();
        CallResult answer = hold(memory.allocateManaged(bytes), () -> Status.SUCCESS);
        if (!answer.ok()) {
            return answer;
        }
        held.set(held.size() - 1, new Held(last, () -> memory.free(answer.value())));
        Status.check("cuMemsetD8", memory.setBytes(answer.value(), 1, bytes));
        return new CallResult(driver.devices().synchronize(), 0);
    }

    private CallResult async() {
        CallResult answer = memory.allocateAsync(size(), session.stream());
        boolean plain = random.nextInt(4) == 0;
        return hold(answer, () -> plain ? memory.free(answer.value()) : memory.freeAsync(answer.value(), session.stream()));
    }

    private CallResult fromOwnPool() {
        if (ownPool == 0) {
            ownPool = driver.pools().create(session.device()).orThrow("cuMemPoolCreate");
        }
        CallResult answer = driver.pools().allocate(size(), ownPool, session.stream());
        return hold(answer, () -> memory.freeAsync(answer.value(), session.stream()));
    }

    /// Arrays and modules larger than a block: only the driver knows which small ones share a block.
    private int side(int least) {
        return least + random.nextInt(least);
    }

    private CallResult array() {
        CallResult answer = driver.arrays().create(new Arrays.Shape(side(800), side(800), 0, FLOATS, 1));
        return hold(answer, () -> driver.arrays().destroy(answer.value()));
    }

    private CallResult array3D() {
        CallResult answer = driver.arrays().create3D(new Arrays.Shape(side(80), side(80), side(80), FLOATS, 2));
        return hold(answer, () -> driver.arrays().destroy(answer.value()));
    }

    private CallResult mipmapped() {
        CallResult answer = driver.arrays().createMipmapped(new Arrays.Shape(side(800), side(800), 0, FLOATS, 1), side(3));
        return hold(answer, () -> driver.arrays().destroyMipmapped(answer.value()));
    }

    private CallResult physical() {
        CallResult answer = mappings.take();
        return hold(answer, () -> mappings.give(answer.value()));
    }

    private CallResult graph() {
        CallResult answer = graphs.take(size());
        return hold(answer, () -> graphs.give(answer.value()));
    }

    private CallResult module() {
        CallResult answer = driver.work().load(ContextCommands.module(3L * BLOCK_BYTES / 2 + random.nextInt(4 * BLOCK_BYTES)));
        return hold(answer, () -> driver.work().unload(answer.value()));
    }

    private CallResult library() {
        CallResult answer = driver.work().loadLibrary(ContextCommands.module(3L * BLOCK_BYTES / 2 + random.nextInt(4 * BLOCK_BYTES)));
        return hold(answer, () -> driver.work().unloadLibrary(answer.value()));
    }

    /// Up to 100 MiB more for the stacks of all threads; the context has one size of them, so one at a time.
    private CallResult stack() {
        if (stackIsLarger) {
            return linear();
        }
        int status = driver.contexts().setStack(STACK_BYTES + 16L * (1 + random.nextInt(24)));
        stackIsLarger = status == Status.SUCCESS;
        return hold(new CallResult(status, 0), () -> {
            stackIsLarger = false;
            return driver.contexts().setStack(STACK_BYTES);
        });
    }

    private CallResult sparseArray() {
        CallResult answer = sparse.take();
        return hold(answer, () -> sparse.give(answer.value()));
    }

    /// Seldom, because it takes as much as many others together.
    private CallResult context() {
        if (!contexts || random.nextInt(4) != 0) {
            return linear();
        }
        CallResult answer = driver.contexts().create(session.device());
        if (answer.ok()) {
            Status.check("cuCtxPopCurrent", driver.contexts().pop());
        }
        return hold(answer, () -> driver.contexts().destroy(answer.value()));
    }
}
