package sluice.trace.report;

import sluice.trace.read.TraceEvent;

/// What kind of call a thread was in, for the colours of the timeline.
public enum ReportKind {
    LAUNCH("launch", "launches"),
    COPY("copy", "synchronous copies"),
    ASYNC("async", "asynchronous copies"),
    MEMORY("alloc", "allocating and freeing"),
    SYNC("sync", "synchronising"),
    OTHER("call", "in other driver calls"),
    CAP("cap", "waiting for the cap"),
    TURN("turn", "waiting for the turn"),
    LOCK("lock", "waiting for the lock"),
    FLIGHT("flight", "waiting for work in flight"),
    ROOM("memory", "waiting for memory");

    private final String word;
    private final String text;

    ReportKind(String word, String text) {
        this.word = word;
        this.text = text;
    }

    /// For programs.
    public String word() {
        return word;
    }

    /// For people.
    public String text() {
        return text;
    }

    public static ReportKind of(TraceEvent.Reason reason) {
        return switch (reason) {
            case CAP -> CAP;
            case TURN -> TURN;
            case LOCK -> LOCK;
            case MEMORY -> ROOM;
            case FLIGHT, UNKNOWN -> FLIGHT;
        };
    }

    /// The kind of a driver call, from its name.
    public static ReportKind of(String function) {
        if (function.startsWith("cuLaunch") || function.startsWith("cuGraphLaunch")) {
            return LAUNCH;
        }
        if (function.startsWith("cuMemcpy") || function.startsWith("cuMemset")) {
            return function.contains("Async") ? ASYNC : COPY;
        }
        if (function.contains("Synchronize")) {
            return SYNC;
        }
        return function.startsWith("cuMem") || function.contains("ArrayCreate") || function.contains("ArrayDestroy") ? MEMORY : OTHER;
    }
}
