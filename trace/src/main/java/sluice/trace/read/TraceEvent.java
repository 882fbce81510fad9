package sluice.trace.read;

/// An event that the library recorded. Times are CLOCK_MONOTONIC nanoseconds.
public sealed interface TraceEvent {
    /// GPU of an event without a GPU, or with an unknown one.
    int NO_GPU = -1;
    /// CUDA's answer to a query of unfinished work: no failure.
    int NOT_READY = 600;

    long beginNanos();

    long endNanos();

    int pid();

    int tid();

    default long nanos() {
        return endNanos() - beginNanos();
    }

    /// A call of the driver by the program, on the host, from its begin to its return.
    sealed interface HostCall extends TraceEvent {
        /// The entry point, as in `cuMemAlloc_v2`.
        String function();

        /// The driver's answer, 0 = success.
        int status();

        /// Handle of the stream; 0 = the default stream, or none.
        long stream();

        /// Index of the GPU in nvidia-smi, or [#NO_GPU].
        int gpu();

        default boolean failed() {
            return status() != 0 && status() != NOT_READY;
        }
    }

    /// Any call but a launch of a kernel.
    ///
    /// @param bytes     bytes copied, set, allocated or freed; 0 = none
    /// @param usedBytes memory in use of the tenant on this GPU after the call; -1 = as before
    record Call(long beginNanos, long endNanos, int pid, int tid, int gpu, String function, int status, long stream, long bytes,
            Direction direction, long usedBytes) implements HostCall {}

    /// A call that launched a kernel. Its times are those of the call on the host.
    ///
    /// @param name name of the kernel
    record Kernel(long beginNanos, long endNanos, int pid, int tid, int gpu, String function, int status, long stream, String name,
            Extent grid, Extent block, long sharedBytes) implements HostCall {}

    /// A call waited, within its times, because Sluice did not let it go yet.
    record Wait(long beginNanos, long endNanos, int pid, int tid, int gpu, Reason reason) implements TraceEvent {}

    /// The tenant held the turn on a GPU.
    record Turn(long beginNanos, long endNanos, int pid, int tid, int gpu) implements TraceEvent {}

    /// The GPU worked on a batch: times on the GPU, in the host's clock.
    ///
    /// @param calls        calls that the batch consisted of
    /// @param chargedNanos GPU time that was charged for it
    /// @param slackNanos   how far begin and end may be off
    record Batch(long beginNanos, long endNanos, int pid, int tid, int gpu, long calls, long chargedNanos, long slackNanos)
            implements TraceEvent {}

    /// The known GPU time of a kernel in one size; recorded again from time to time.
    ///
    /// @param blocks         blocks of the grid
    /// @param threads        threads of a block
    /// @param nanosPerLaunch GPU time of one launch, as learnt by now
    /// @param launches       launches by this thread since it was last said
    record Cost(long beginNanos, long endNanos, int pid, int tid, int gpu, String name, long blocks, long threads, long nanosPerLaunch,
            long launches, Measured measured) implements TraceEvent {
        public long leastNanos() {
            return nanosPerLaunch - nanosPerLaunch / 1000 * measured.lessPermille();
        }

        public long mostNanos() {
            return nanosPerLaunch + nanosPerLaunch / 1000 * measured.morePermille();
        }
    }

    /// How far a time may be off.
    ///
    /// @param alone        the GPU had nothing else to do when the launches that were measured began; else it is the most that one takes
    /// @param lessPermille it may be less by so many thousandths
    /// @param morePermille it may be more by so many thousandths
    record Measured(boolean alone, int lessPermille, int morePermille) {
        static final Measured AT_MOST = new Measured(false, 1000, 0);
    }

    /// A range that the program named itself, with NVTX.
    ///
    /// @param domain what the program calls a group of ranges; empty when it does not
    /// @param depth  how many ranges of the same thread it lies in
    /// @param nested whether it lies properly within those; other ranges may overlap
    record Range(long beginNanos, long endNanos, int pid, int tid, String name, String domain, int depth, boolean nested)
            implements TraceEvent {}

    /// A moment that the program named itself, with NVTX.
    record Mark(long beginNanos, long endNanos, int pid, int tid, String name, String domain) implements TraceEvent {}

    /// Size of a grid in blocks, or of a block in threads.
    record Extent(long x, long y, long z) {
        @Override
        public String toString() {
            return x + "x" + y + "x" + z;
        }
    }

    /// The direction of a copy; the order is that of the library's numbers.
    enum Direction {
        NONE("", ""),
        TO_GPU("to GPU", "to_gpu"),
        FROM_GPU("from GPU", "from_gpu"),
        ON_GPU("on GPU", "on_gpu"),
        BETWEEN_GPUS("between GPUs", "between_gpus"),
        HOST("on host", "host"),
        OTHER("other", "other");

        private static final Direction[] ALL = values();
        private final String text;
        private final String word;

        Direction(String text, String word) {
            this.text = text;
            this.word = word;
        }

        static Direction of(long number) {
            return number >= 0 && number < ALL.length ? ALL[(int) number] : OTHER;
        }

        /// For people.
        public String text() {
            return text;
        }

        /// For programs.
        public String word() {
            return word;
        }
    }

    /// The reason of a wait; the order is that of the library's numbers.
    enum Reason {
        UNKNOWN("wait"),
        CAP("wait for the cap"),
        TURN("wait for the turn"),
        LOCK("wait for the lock"),
        FLIGHT("wait for work in flight"),
        MEMORY("wait for memory");

        private static final Reason[] ALL = values();
        private final String text;

        Reason(String text) {
            this.text = text;
        }

        static Reason of(long number) {
            return number >= 0 && number < ALL.length ? ALL[(int) number] : UNKNOWN;
        }

        /// For people.
        public String text() {
            return text;
        }
    }
}
