package sluice.it.verdict;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import sluice.it.machine.Again;

/// Runs after all others: at most 2 % of the lower bounds, rounded up, may have needed another look.
@Tag("verdict")
class LowerBoundsTest {
    private static final double MOST = 0.02;

    @Test
    void shouldRarelyLookAgain() throws Exception {
        List<String> all = Files.exists(Again.notes()) ? Files.readAllLines(Again.notes()) : List.of();
        List<String> again = all.stream().filter(line -> line.startsWith(Again.AGAIN)).toList();
        System.out.println(again.size() + " of " + all.size() + " lower bounds needed another look");
        again.forEach(line -> System.out.println("  " + line));
        assertThat(again).hasSizeLessThanOrEqualTo((int) Math.ceil(MOST * all.size()));
    }
}
