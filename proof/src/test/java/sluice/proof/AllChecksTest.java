package sluice.proof;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import org.junit.jupiter.api.Test;
import sluice.proof.checks.Check;
import sluice.proof.checks.Group;

class AllChecksTest {
    @Test
    void shouldNameEachCheckOnce() {
        assertThat(Verify.checks()).extracting(Check::toString).doesNotHaveDuplicates().hasSizeGreaterThan(30);
    }

    @Test
    void shouldChooseGroupsByTheirWords() {
        assertThat(Verify.checks(List.of())).hasSameSizeAs(Verify.checks());
        assertThat(Verify.checks(List.of("faults"))).isNotEmpty().allMatch(check -> check.group() == Group.FAULTS);
        assertThat(Verify.checks(List.of("memory"))).hasSizeGreaterThan(30).noneMatch(check -> check.group() == Group.UNCHANGED);
        assertThatThrownBy(() -> Verify.checks(List.of("memry"))).hasMessageStartingWith("there is no group 'memry'; there are memory, quota,");
    }
}
