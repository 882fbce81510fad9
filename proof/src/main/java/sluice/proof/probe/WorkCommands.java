package sluice.proof.probe;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_FLOAT;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.zip.CRC32C;
import sluice.cuda.Graphs;
import sluice.cuda.Memory;
import sluice.cuda.Parameters;
import sluice.cuda.Status;
import sluice.cuda.Work;
import sluice.proof.facts.Expect;
import sluice.proof.facts.Facts;
import sluice.proof.probe.memory.Session;

/// Kernels with a known result, launched one by one and as a graph, and one that takes a known time.
public final class WorkCommands {
    private static final int COUNT = 100_003;
    private static final int BLOCKS = 64;
    private static final int THREADS = 128;
    public static final long BUSY_NANOS = 50_000_000;

    private WorkCommands() {}

    /// a[i] = i/3, b = 2.5 everywhere (by fill), c = a + b; reports a checksum of c.
    static Facts kernels(Session session) {
        Work work = session.driver().work();
        try (Arena arena = Arena.ofConfined()) {
            Vectors vectors = Vectors.make(session, arena);
            long module = work.load(Work.kernels()).orThrow("cuModuleLoadData");
            long stream = work.createStream().orThrow("cuStreamCreate");
            Status.check("launch of sluice_fill", work.launch(function(work, module, "sluice_fill"),
                    BLOCKS, THREADS, stream, vectors.fill(arena)));
            Status.check("launch of sluice_add", work.launch(function(work, module, "sluice_add"),
                    BLOCKS, THREADS, stream, vectors.add(arena)));
            Status.check("cuStreamSynchronize", work.synchronizeStream(stream));
            work.destroyStream(stream);
            return vectors.result(session, arena);
        }
    }

    static Facts graph(Session session) {
        Work work = session.driver().work();
        Graphs graphs = session.driver().graphs();
        try (Arena arena = Arena.ofConfined()) {
            Vectors vectors = Vectors.make(session, arena);
            long module = work.load(Work.kernels()).orThrow("cuModuleLoadData");
            long graph = graphs.create().orThrow("cuGraphCreate");
            long fill = graphs.addKernel(graph, 0, function(work, module, "sluice_fill"),
                    BLOCKS, THREADS, vectors.fill(arena)).orThrow("cuGraphAddKernelNode");
            graphs.addKernel(graph, fill, function(work, module, "sluice_add"),
                    BLOCKS, THREADS, vectors.add(arena)).orThrow("cuGraphAddKernelNode");
            long executable = graphs.instantiate(graph).orThrow("cuGraphInstantiateWithFlags");
            Status.check("cuGraphLaunch", graphs.launch(executable, 0));
            Status.check("cuCtxSynchronize", session.driver().devices().synchronize());
            graphs.destroyExecutable(executable);
            graphs.destroy(graph);
            return vectors.result(session, arena);
        }
    }

    /// How long, by the driver's events, a kernel took that keeps the GPU busy for this time.
    static Facts spin(Session session, long nanoseconds) {
        Work work = session.driver().work();
        try (Arena arena = Arena.ofConfined()) {
            long module = work.load(Work.kernels()).orThrow("cuModuleLoadData");
            long start = work.createEvent().orThrow("cuEventCreate");
            long end = work.createEvent().orThrow("cuEventCreate");
            Status.check("cuEventRecord", work.record(start, 0));
            Status.check("launch of sluice_spin", work.launch(
                    function(work, module, "sluice_spin"), 1, 1, 0, Parameters.of(arena, nanoseconds)));
            Status.check("cuEventRecord", work.record(end, 0));
            Status.check("cuEventSynchronize", work.synchronizeEvent(end));
            return Facts.of("micros", Math.round(work.elapsedMillis(start, end) * 1000));
        }
    }

    /// Uses the GPU for a while, then captures launches of kernels into a graph and runs it. Says how long the capture took, how
    /// many kernels ran in the graph, and how long all of it took.
    static Facts capture(Session session, int launches) {
        Work work = session.driver().work();
        Graphs graphs = session.driver().graphs();
        try (Arena arena = Arena.ofConfined()) {
            StampRing ring = StampRing.make(launches);
            long busy = work.createStream().orThrow("cuStreamCreate");
            long captured = work.createStream().orThrow("cuStreamCreate");
            long spin = function(work, work.load(Work.kernels()).orThrow("cuModuleLoadData"), "sluice_spin");
            long begin = System.nanoTime();
            Status.check("launch of sluice_spin", work.launch(spin, 1, 1, busy, Parameters.of(arena, BUSY_NANOS)));
            Status.check("cuStreamBeginCapture", graphs.beginCapture(captured));
            long start = System.nanoTime();
            for (int i = 0; i < launches; i++) {
                Status.check("captured launch", work.launch(ring.stamp(), 1, 1, captured, ring.kernel(arena, 0)));
            }
            long nanos = System.nanoTime() - start;
            long graph = graphs.endCapture(captured).orThrow("cuStreamEndCapture");
            Expect.that(ring.begunKernels() == 0, "kernels of a captured stream ran before its graph did");
            long executable = graphs.instantiate(graph).orThrow("cuGraphInstantiateWithFlags");
            Status.check("cuGraphLaunch", graphs.launch(executable, busy));
            Status.check("cuCtxSynchronize", session.driver().devices().synchronize());
            return Facts.of("kernels", ring.begunKernels(), "micros", nanos / 1000, "all-micros", (System.nanoTime() - begin) / 1000);
        }
    }

    private static long function(Work work, long module, String name) {
        return work.function(module, name).orThrow("cuModuleGetFunction " + name);
    }

    private record Vectors(long a, long b, long c) {

        static Vectors make(Session session, Arena arena) {
            Memory memory = session.driver().memory();
            MemorySegment numbers = arena.allocate(JAVA_FLOAT, COUNT);
            for (int i = 0; i < COUNT; i++) {
                numbers.setAtIndex(JAVA_FLOAT, i, i / 3f);
            }
            long bytes = numbers.byteSize();
            Vectors vectors = new Vectors(memory.allocate(bytes).orThrow("cuMemAlloc"),
                    memory.allocate(bytes).orThrow("cuMemAlloc"), memory.allocate(bytes).orThrow("cuMemAlloc"));
            Status.check("cuMemcpyHtoD", memory.copyToDevice(vectors.a, numbers));
            Status.check("cuMemsetD8", memory.setBytes(vectors.c, 0xee, bytes));
            return vectors;
        }

        Parameters fill(Arena arena) {
            return Parameters.of(arena, b, Float.floatToRawIntBits(2.5f), (long) COUNT);
        }

        Parameters add(Arena arena) {
            return Parameters.of(arena, a, b, c, (long) COUNT);
        }

        /// Reads c back and frees all three.
        Facts result(Session session, Arena arena) {
            Memory memory = session.driver().memory();
            MemorySegment sums = arena.allocate(JAVA_FLOAT, COUNT);
            Status.check("cuMemcpyDtoH", memory.copyToHost(sums, c));
            for (long pointer : new long[] {a, b, c}) {
                Status.check("cuMemFree", memory.free(pointer));
            }
            for (int i = 0; i < COUNT; i++) {
                float expected = i / 3f + 2.5f;
                Expect.that(sums.getAtIndex(JAVA_FLOAT, i) == expected,
                        "c[" + i + "] is " + sums.getAtIndex(JAVA_FLOAT, i) + ", expected " + expected);
            }
            CRC32C checksum = new CRC32C();
            checksum.update(sums.toArray(JAVA_BYTE));
            return Facts.of("sums", COUNT, "checksum", checksum.getValue());
        }
    }
}
