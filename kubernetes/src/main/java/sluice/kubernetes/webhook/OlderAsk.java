package sluice.kubernetes.webhook;

import java.util.List;

/// What a container asks for in the words of an older tool.
///
/// @param gpus     how many
/// @param memory   on each
/// @param percent  of the time of each; 0: no cap
/// @param priority as Sluice names it; empty: the usual
/// @param chosen   conditions on the GPU, in CEL
record OlderAsk(long gpus, Memory memory, long percent, String priority, List<String> chosen) {
    /// How much of a GPU's memory.
    sealed interface Memory {
        /// All that the GPU advertises.
        record Whole() implements Memory {}

        record Bytes(long bytes) implements Memory {}

        record Percent(long percent) implements Memory {}
    }

    OlderAsk {
        chosen = List.copyOf(chosen);
    }
}
