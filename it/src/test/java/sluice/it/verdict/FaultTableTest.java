package sluice.it.verdict;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import sluice.fault.Fault;
import sluice.fault.FaultTable;

/// Runs after all others: prints what was attacked in all modules of this build, and whether it held.
@Tag("verdict")
class FaultTableTest {
    @Test
    void shouldHoldAgainstEachKindOfFault() {
        FaultTable table = FaultTable.ofThisBuild();
        System.out.println(table);

        assertThat(table.failures()).isEmpty();
        assertThat(Stream.of(Fault.Kind.values()).filter(kind -> table.tests(kind) < 2)).as("kinds with fewer than two tests").isEmpty();
    }
}
