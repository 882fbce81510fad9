package sluice.trace.read;

/// Receives the progress of long work from time to time.
@FunctionalInterface
public interface TraceProgress {
    TraceProgress NONE = (done, all) -> {};

    /// @param done events done
    /// @param all  events in all
    void at(long done, long all);
}
