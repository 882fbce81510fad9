package sluice.trace.report;

import sluice.trace.read.TraceEvent;

/// Why a GPU did no work for the tenant. If several causes apply at once, the first in this order counts: first waits that Sluice caused,
/// then calls of the program, then idleness of the program.
public enum ReportCause {
    CAP("cap", "waiting for the cap", "The job had used its part of the GPU's time."),
    TURN("turn", "waiting for the turn", "Another job had the GPU."),
    LOCK("lock", "waiting for the lock", "Another job held the exclusive lock."),
    MEMORY("memory", "waiting for memory", "An allocation waited until there was room in the quota."),
    FLIGHT("flight", "waiting for work in flight", "Enough work was submitted already; the next call waited for some of it to end."),
    COPY("copy", "synchronous copies", "A thread was in a copy or fill that returns only when it is done."),
    SYNC("sync", "synchronising", "A thread waited for the GPU, which had already ended, or was told so late."),
    CALL("call", "in other driver calls", "A thread was in the driver: allocating, loading code, launching."),
    HOST("host", "host busy between calls", "No thread was in a CUDA call, for less than 50 ms at a time."),
    PROGRAM("program", "program idle", "No thread was in a CUDA call for 50 ms or longer."),
    DRY("dry", "launches too far apart", "Within batches of work the GPU ran dry: the next launch came late.");

    /// A pause between calls from which on the program counts as idle.
    static final long IDLE_NANOS = 50_000_000;

    private final String word;
    private final String text;
    private final String meaning;

    ReportCause(String word, String text, String meaning) {
        this.word = word;
        this.text = text;
        this.meaning = meaning;
    }

    /// For programs.
    public String word() {
        return word;
    }

    /// For people.
    public String text() {
        return text;
    }

    /// One sentence.
    public String meaning() {
        return meaning;
    }

    static ReportCause of(TraceEvent.Reason reason) {
        return switch (reason) {
            case CAP -> CAP;
            case TURN -> TURN;
            case LOCK -> LOCK;
            case MEMORY -> MEMORY;
            case FLIGHT, UNKNOWN -> FLIGHT;
        };
    }

    static ReportCause of(ReportKind kind) {
        return switch (kind) {
            case COPY -> COPY;
            case SYNC -> SYNC;
            default -> CALL;
        };
    }
}
