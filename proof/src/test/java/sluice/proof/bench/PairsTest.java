package sluice.proof.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import org.junit.jupiter.api.Test;
import sluice.proof.facts.Facts;

class PairsTest {

    @Test
    void shouldTakeTheMedianOfDifferencesOfNeighbours() {
        Pairs pairs = Pairs.of(Facts.parse("without=100.0,900.0,120.0\twith=150.0,960.0,130.0"));
        assertThat(pairs.added()).containsExactly(50.0, 60.0, 10.0);
        assertThat(pairs.typicalAdded()).isEqualTo(50);
        assertThat(pairs.typicalWithout()).isEqualTo(120);
    }

    @Test
    void shouldRefuseBlocksWithoutANeighbour() {
        assertThatThrownBy(() -> new Pairs(List.of(1.0, 2.0), List.of(1.0)))
                .hasMessage("the blocks are no pairs: 2 without and 1 with the library");
    }

    @Test
    void shouldFindTheMiddleHalf() {
        assertThat(Quartiles.of(List.of(9.0, 1.0, 3.0, 5.0, 1000.0))).isEqualTo(new Quartiles(3, 9));
        assertThat(Quartiles.of(List.of(7.0))).isEqualTo(new Quartiles(7, 7));
    }
}
