package sluice.proof;

import java.util.Locale;

/// What keeps a GPU busy: how work is submitted, and how long each kernel takes.
///
/// @param kernelNanos of each kernel; of no meaning for copies
record Load(Kind kind, long kernelNanos) {
    static final int GRAPH_KERNELS = 100;
    static final int STREAMS = 4;
    static final int THREADS = 4;
    static final long SHORT_NANOS = 10_000;
    static final int BURST_KERNELS = 2;
    static final long BURST_PERIOD_NANOS = 20_000_000;

    enum Kind {
        LAUNCHES("launch loop"),
        SYNCED("sync after each"),
        GRAPH("graph of " + Load.GRAPH_KERNELS),
        STREAMS(Load.STREAMS + " streams"),
        THREADS(Load.THREADS + " threads"),
        LENGTHENED("launch loop, first " + Load.SHORT_NANOS / 1000 + " µs, then"),
        UPLOADS("copies to the GPU"),
        COPIES("copies on the GPU"),
        BURSTS("bursts");

        private final String text;

        Kind(String text) {
            this.text = text;
        }

        String text() {
            return text;
        }

        /// Whether a stamp before and one after each piece of work tell its time.
        boolean isBracketed() {
            return this == UPLOADS || this == COPIES;
        }
    }

    static Load parse(String kind, String kernelNanos) {
        return new Load(Kind.valueOf(kind), Long.parseLong(kernelNanos));
    }

    /// As [#parse] reads it.
    String words() {
        return kind.name() + " " + kernelNanos;
    }

    String text() {
        return kind.isBracketed() ? kind.text : kind.text + " " + kernelText();
    }

    String kernelText() {
        return kernelNanos < 1_000_000
                ? kernelNanos / 1000 + " µs"
                : String.format(Locale.ROOT, "%.0f ms", kernelNanos / 1e6);
    }
}
