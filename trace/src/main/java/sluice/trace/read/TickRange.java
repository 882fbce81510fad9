package sluice.trace.read;

/// The ticks at which events of a trace can have been. A call that began long before the trace is shown from [#shownFrom] on.
record TickRange(long first, long shownFrom, long last) {
    static final TickRange ALL = new TickRange(0, 0, Long.MAX_VALUE - 1);

    boolean holds(long begin, long end) {
        return begin >= first && begin <= end && end <= last;
    }

    long shown(long begin) {
        return Math.max(begin, shownFrom);
    }
}
