package sluice.proof.facts;

import java.util.Locale;

/// Work that keeps a GPU busy: how it is submitted, and how long each kernel takes.
///
/// @param kernelNanos of each kernel; of no meaning for copies
public record Load(Kind kind, long kernelNanos) {
    public static final int GRAPH_KERNELS = 100;
    public static final int STREAMS = 4;
    public static final int THREADS = 4;
    public static final long SHORT_NANOS = 10_000;
    public static final int BURST_KERNELS = 2;
    public static final long BURST_PERIOD_NANOS = 20_000_000;

    public enum Kind {
        LAUNCHES("launch loop"),
        SYNCED("sync after each"),
        GRAPH("graph of " + Load.GRAPH_KERNELS),
        STREAMS(Load.STREAMS + " streams"),
        THREADS(Load.THREADS + " threads"),
        LENGTHENED("launch loop, first " + Load.SHORT_NANOS / 1000 + " µs, then"),
        UPLOADS("copies to the GPU"),
        COPIES("copies on the GPU"),
        BURSTS("bursts", Load.BURST_KERNELS),
        SINGLES("bursts of one", 1),
        TENS("bursts of ten", 10);

        private final String text;
        private final int burstKernels;

        Kind(String text) {
            this(text, 0);
        }

        Kind(String text, int burstKernels) {
            this.text = text;
            this.burstKernels = burstKernels;
        }

        /// How many kernels a burst has; 0 for work without pauses.
        public int burstKernels() {
            return burstKernels;
        }

        public String text() {
            return text;
        }

        /// Whether a stamp before and one after each piece of work tell its time.
        public boolean isBracketed() {
            return this == UPLOADS || this == COPIES;
        }
    }

    public static Load parse(String kind, String kernelNanos) {
        return new Load(Kind.valueOf(kind), Long.parseLong(kernelNanos));
    }

    /// As [#parse] reads it.
    public String words() {
        return kind.name() + " " + kernelNanos;
    }

    public String text() {
        return kind.isBracketed() ? kind.text : kind.text + " " + kernelText();
    }

    String kernelText() {
        return kernelNanos < 1_000_000
                ? kernelNanos / 1000 + " µs"
                : String.format(Locale.ROOT, "%.0f ms", kernelNanos / 1e6);
    }
}
