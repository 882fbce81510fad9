package sluice.proof.facts;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

class FactsTest {
    @Test
    void shouldSurviveTheLine() {
        Facts facts = Facts.of("status", 2, "name", "NVIDIA H200 = fast", "nanos", 12.5);
        assertThat(Facts.parse(facts.line())).isEqualTo(facts);
        assertThat(facts.status()).isEqualTo(2);
        assertThat(facts.text("name")).isEqualTo("NVIDIA H200 = fast");
        assertThat(facts.decimal("nanos")).isEqualTo(12.5);
    }

    @Test
    void shouldStayOneLine() {
        assertThat(Facts.of("error", "first\nsecond\tthird").line()).isEqualTo("error=first second third");
    }

    @Test
    void shouldSayWhatIsMissing() {
        assertThatThrownBy(() -> Facts.of("status", 0).number("pointer")).hasMessageContaining("'pointer'");
    }
}
