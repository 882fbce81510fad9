package sluice.trace.report;

import java.util.ArrayList;
import java.util.List;

/// The number of gaps by length, in powers of ten, and by cause.
final class ReportGapLengths {
    private static final String[] TEXTS = {
        "below 10 µs", "10 – 100 µs", "0.1 – 1 ms", "1 – 10 ms", "10 – 100 ms", "0.1 – 1 s", "1 s and longer"
    };
    private static final long SHORTEST = 10_000;

    private final long[] gaps = new long[TEXTS.length];
    private final long[] nanos = new long[TEXTS.length];

    void add(ReportGap gap) {
        int length = 0;
        for (long bound = SHORTEST; gap.nanos() >= bound && length < TEXTS.length - 1; bound *= 10) {
            length++;
        }
        gaps[length]++;
        nanos[length] += gap.nanos();
    }

    List<ReportData.GapLength> rows() {
        List<ReportData.GapLength> rows = new ArrayList<>();
        for (int i = 0; i < TEXTS.length; i++) {
            rows.add(new ReportData.GapLength(TEXTS[i], gaps[i], nanos[i]));
        }
        return rows;
    }
}
