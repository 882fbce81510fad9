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
        @Entry(since = 10000, takes = "L") MethodHandle cuGraphDestroy) {

    private static final long NODE_BYTES = 56;

    public Answer create() {
        return Calls.longFrom(out -> (int) cuGraphCreate.invokeExact(out, 0));
    }

    /// Adds a kernel node after the node `after`; 0 for a node that waits for none.
    public Answer addKernel(long graph, long after, long function, int blocks, int threads, Parameters parameters) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment node = node(arena, function, blocks, threads, parameters);
            MemorySegment dependencies = after == 0 ? MemorySegment.NULL : arena.allocateFrom(JAVA_LONG, after);
            long count = after == 0 ? 0 : 1;
            return Calls.longFrom(
                    out -> (int) cuGraphAddKernelNode.invokeExact(out, graph, dependencies, count, node));
        }
    }

    public Answer instantiate(long graph) {
        return Calls.longFrom(out -> (int) cuGraphInstantiateWithFlags.invokeExact(out, graph, 0L));
    }

    public int launch(long executable, long stream) {
        return Calls.status(() -> (int) cuGraphLaunch.invokeExact(executable, stream));
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
