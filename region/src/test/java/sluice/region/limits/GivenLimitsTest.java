package sluice.region.limits;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// What a job gets that asks for something under a policy.
class GivenLimitsTest {
    static Map<Limit, String> words(String text) {
        return Stream.of(text.split(" ")).filter(word -> !word.isEmpty()).map(word -> word.split("=", 2))
                .collect(Collectors.toMap(word -> Limit.of(word[0]).orElseThrow(), word -> word[1]));
    }

    private static GivenLimits limits(String words) {
        return GivenLimits.of(LimitSource.POLICY, words(words == null ? "" : words));
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
        "weight=3, turn=1s, turn is default (10 ms) and not 1 s",
        "weight=3, turn=5ms, -",
        "weight=1, exclusive=true, exclusive is false and not true",
        "priority=high, priority=high, -",
        "compute=50%, compute=25%, -",
        "compute=50%, compute=25% strict=true, -",
        "compute=50% strict=true, compute=25% strict=false, strict is true and not false",
        "compute=50% strict=false, strict=true, strict is false and not true",
        "compute=25%, compute=50%, compute is 25% and not 50%",
        "memory=2g, on-error=run, on-error is fail and not run",
        "memory=2g on-error=run, on-error=run, -",
        "memory=2g on-oom=fail, on-oom=wait:3s, -",
    })
    void shouldGiveAtMostWhatThePolicyGives(String policy, String asked, String less) {
        Limits granted = limits(asked).within(limits(policy));
        assertThat(String.join(", ", limits(asked).missing(granted))).isEqualTo(less == null ? "" : less);
    }

    @Test
    void shouldGiveThePolicysLimitsWhenNoneAreAskedFor() {
        GivenLimits policy = limits("memory=0=2g,1=4g compute=50% weight=3 priority=low turn=5ms on-oom=wait:3s");
        Limits granted = limits("").within(policy);
        assertThat(granted).isEqualTo(policy.limits());
    }

    @Test
    void shouldBoundEachGpuByItself() {
        Limits granted = limits("memory=0=4g,2=1g").within(limits("memory=0=2g,1=8g"));
        assertThat(granted.memory()).isEqualTo(limits("memory=0=2g,1=8g,2=1g").limits().memory());
    }

    @ParameterizedTest
    @CsvSource({"memory, 1g, true", "memory, 3g, false", "memory, none, false", "memory, nonsense, false", "weight, 900, true", "priority, high, true", "compute, none, true"})
    void shouldLetAUserSetWhatThePolicyAllows(String name, String value, boolean allowed) {
        assertThat(limits("memory=2g").allow(Limit.of(name).orElseThrow(), value)).isEqualTo(allowed);
    }

    @Test
    void shouldMakeCapsStrictWhereThePolicySaysSo() {
        assertThat(limits("compute=25%").within(limits("strict=true"))).isEqualTo(limits("compute=25% strict=true").limits());
        assertThat(limits("strict=true").allow(Limit.STRICT, "false")).isFalse();
        assertThat(limits("strict=true").allow(Limit.STRICT, "true")).isTrue();
        assertThat(limits("strict=false").allow(Limit.STRICT, "true")).isFalse();
    }

    @Test
    void shouldSayThatStrictNeedsACap() {
        assertThat(limits("strict=true weight=3").mistake()).hasValueSatisfying(mistake -> assertThat(mistake).contains("add a cap, as in --compute 10% --strict"));
        assertThat(limits("strict=true compute=100%").mistake()).isPresent();
        assertThat(limits("strict=true compute=0=10%").mistake()).isEmpty();
        assertThat(limits("strict=false").mistake()).isEmpty();
    }

    @Test
    void shouldNotLetAUserPassTheShareOfThePolicy() {
        assertThat(limits("weight=2").allow(Limit.PRIORITY, "high")).isFalse();
        assertThat(limits("weight=2").allow(Limit.WEIGHT, "none")).isFalse();
        assertThat(limits("weight=2").allow(Limit.WEIGHT, "1")).isTrue();
    }
}
