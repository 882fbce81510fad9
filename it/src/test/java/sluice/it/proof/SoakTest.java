package sluice.it.proof;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import sluice.it.machine.Machine;
import sluice.proof.soak.Soak;
import sluice.proof.stage.Environment;
import sluice.region.place.Installation;

/// A short soak; `sluice soak --sim --for 30m` is the long one.
class SoakTest {
    @Test
    void shouldKeepTheLedgerEqualToTheDriversTruth() {
        List<String> phases = new ArrayList<>();

        Soak.run(Environment.of(new Installation(Machine.HOME), true), new Soak.Options(Duration.ofSeconds(20), 8, 7), phases::add);

        assertThat(phases).hasSizeGreaterThan(2).last().asString().endsWith("nothing is left");
    }
}
