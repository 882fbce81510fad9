package sluice.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class SuggestionTest {
    private static final List<String> KNOWN = List.of("run", "ps", "inspect", "doctor", "--memory", "--name");

    @Test
    void shouldFindTheNearestWord() {
        assertThat(Suggestion.nearest("insepct", KNOWN)).contains("inspect");
        assertThat(Suggestion.nearest("--mem", KNOWN)).contains("--memory");
        assertThat(Suggestion.nearest("--memroy", KNOWN)).contains("--memory");
    }

    @Test
    void shouldSuggestNothingFarFetched() {
        assertThat(Suggestion.nearest("frobnicate", KNOWN)).isEmpty();
        assertThat(Suggestion.nearest("-v", List.of("-h", "--help"))).isEmpty();
    }
}
