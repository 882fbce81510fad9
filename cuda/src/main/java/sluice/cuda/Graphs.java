package sluice.cuda;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

/// Graphs of kernels. A handle is its 64-bit value.
public record Graphs(
        @Entry(since = 10000, takes = "PI") MethodHandle cuGraphCreate,
        @Entry(since = 10000, takes = "PLPLP") MethodHandle cuGraphAddKernelNode,
        @Entry(since = 11040, takes = "PLL") MethodHandle cuGraphInstantiateWithFlags,
        @Entry(since = 10000, takes = "LL") MethodHandle cuGraphLaunch,
        @Entry(since = 10000, takes = "L") MethodHandle cuGraphExecDestroy,
        @Entry(since = 10000, takes = "L") MethodHandle cuGraphDestroy,
        @Entry(since = 10010, takes = "LI") MethodHandle cuStreamBeginCapture_v2,
        @Entry(since = 10000, takes = "LP") MethodHandle cuStreamEndCapture,
        @Entry(since = 11040, takes = "I") MethodHandle cuDeviceGraphMemTrim) {

    private static final long NODE_BYTES = 56;
    private static final int RELAXED = 2;

    public CallResult create() {
        return Calls.longFrom(out -> (int) cuGraphCreate.invokeExact(out, 0));
    }

    /// Adds a kernel node after the node `after`; 0 for a node that waits for none.
    public CallResult addKernel(long graph, long after, long function, int blocks, int threads, Parameters parameters) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment node = node(arena, function, blocks, threads, parameters);
            MemorySegment dependencies = after == 0 ? MemorySegment.NULL : arena.allocateFrom(JAVA_LONG, after);
            long count = after == 0 ? 0 : 1;
            return Calls.longFrom(
                    out -> (int) cuGraphAddKernelNode.invokeExact(out, graph, dependencies, count, node));
        }
    }

    public CallResult instantiate(long graph) {
        return Calls.longFrom(out -> (int) cuGraphInstantiateWithFlags.invokeExact(out, graph, 0L));
    }

    public int launch(long executable, long stream) {
        return Calls.status(() -> (int) cuGraphLaunch.invokeExact(executable, stream));
    }

    /// From now on what is put into the stream becomes a graph.
    public int beginCapture(long stream) {
        return Calls.status(() -> (int) cuStreamBeginCapture_v2.invokeExact(stream, RELAXED));
    }

    /// The graph of what was put into the stream.
    public CallResult endCapture(long stream) {
        return Calls.longFrom(out -> (int) cuStreamEndCapture.invokeExact(stream, out));
    }

    /// Gives back what graphs have reserved and do not use.
    public int trim(int device) {
        return Calls.status(() -> (int) cuDeviceGraphMemTrim.invokeExact(device));
    }

    public int destroyExecutable(long executable) {
        return Calls.status(() -> (int) cuGraphExecDestroy.invokeExact(executable));
    }

    public int destroy(long graph) {
        return Calls.status(() -> (int) cuGraphDestroy.invokeExact(graph));
    }

    /// CUDA_KERNEL_NODE_PARAMS of the first version: function, grid, block, shared bytes, parameters, extra.
    private static MemorySegment node(Arena arena, long function, int blocks, int threads, Parameters parameters) {
        MemorySegment node = arena.allocate(NODE_BYTES, ADDRESS.byteAlignment());
        node.set(JAVA_LONG, 0, function);
        int[] shape = {blocks, 1, 1, threads, 1, 1, 0};
        for (int i = 0; i < shape.length; i++) {
            node.set(JAVA_INT, 8 + 4L * i, shape[i]);
        }
        node.set(ADDRESS, 40, parameters.pointers());
        return node;
    }
}
