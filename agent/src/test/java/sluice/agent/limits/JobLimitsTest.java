package sluice.agent.limits;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// What a job gets that asks for something under a policy.
class JobLimitsTest {
    private static JobLimits limits(String words) {
        return JobLimits.parse(JobLimits.words(words == null ? "" : words, JobLimits.NAMES, "limits", ""));
    }

    @ParameterizedTest
    @CsvSource(nullValues = "-", value = {
        // policy, asked, what of that does not hold
        "-, memory=4g weight=5 priority=high on-error=run, -",
        "memory=2g, memory=1g, -",
        "memory=2g, memory=4g, memory is 2.0 GiB and not 4.0 GiB",
        "memory=2g, weight=9 priority=high, -",
        "weight=3, weight=2, -",
        "weight=3, weight=5, weight is 3 and not 5",
        "weight=3, priority=high, priority is normal and not high",
        "weight=3, priority=low, -",
        "weight=3, turn=1s, turn is 10000 us and not 1000000 us",
        "weight=3, turn=5ms, -",
        "weight=1, exclusive=true, exclusive is off and not on",
        "priority=high, priority=high, -",
        "compute=50%, compute=25%, -",
        "compute=25%, compute=50%, compute is 25% and not 50%",
        "memory=2g, on-error=run, on-error is fail and not run",
        "memory=2g on-error=run, on-error=run, -",
        "memory=2g on-oom=fail, on-oom=wait:3s, -",
    })
    void shouldGiveAtMostWhatThePolicyGives(String policy, String asked, String less) {
        JobLimits granted = limits(asked).within(limits(policy));
        assertThat(String.join(", ", granted.lessThan(limits(asked)))).isEqualTo(less == null ? "" : less);
    }

    @Test
    void shouldGiveWhatThePolicyGivesToWhoAsksForNothing() {
        JobLimits policy = limits("memory=0=2g,1=4g compute=50% weight=3 priority=low turn=5ms on-oom=wait:3s");
        JobLimits granted = limits("").within(policy);
        assertThat(granted.memory()).isEqualTo(policy.memory());
        assertThat(granted.compute()).isEqualTo(policy.compute());
        assertThat(granted.onOom()).isEqualTo(policy.onOom());
    }

    @Test
    void shouldBoundEachGpuByItself() {
        JobLimits granted = limits("memory=0=4g,2=1g").within(limits("memory=0=2g,1=8g"));
        assertThat(granted.memory()).isEqualTo(limits("memory=0=2g,1=8g,2=1g").memory());
    }

    @ParameterizedTest
    @CsvSource({"memory, 1g, true", "memory, 3g, false", "memory, none, false", "memory, nonsense, false", "weight, 900, true", "priority, high, true", "compute, none, true"})
    void shouldLetAUserSetWhatThePolicyAllows(String name, String value, boolean allowed) {
        assertThat(limits("memory=2g").allows(name, value)).isEqualTo(allowed);
    }

    @Test
    void shouldNotLetAUserPassTheShareOfThePolicy() {
        assertThat(limits("weight=2").allows("priority", "high")).isFalse();
        assertThat(limits("weight=2").allows("weight", "none")).isFalse();
        assertThat(limits("weight=2").allows("weight", "1")).isTrue();
    }
}
