package sluice.it.machine;

import static org.assertj.core.api.Assertions.assertThat;

/// How the command answers a mistake of its user.
public final class Mistake {
    private Mistake() {}

    /// The command ended with this status and printed one line that contains the word.
    public static void assertMistake(int status, String word, Machine.Outcome outcome) {
        assertThat(outcome.status()).as(outcome.errors()).isEqualTo(status);
        assertThat(outcome.errors().strip()).startsWith("sluice: ").contains(word).doesNotContain("Exception");
        assertThat(outcome.errors().strip().lines()).hasSize(1);
        assertThat(outcome.output()).isEmpty();
    }
}
