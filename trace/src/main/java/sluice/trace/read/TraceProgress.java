package sluice.trace.read;

/// Is told now and then how far a long piece of work is.
@FunctionalInterface
public interface TraceProgress {
    TraceProgress NONE = (done, all) -> {};

    /// @param done events done
    /// @param all  events in all
    void at(long done, long all);
}
