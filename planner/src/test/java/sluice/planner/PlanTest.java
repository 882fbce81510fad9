package sluice.planner;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/// What holds of every plan, tried on many that are made up at random.
class PlanTest {
    private static final int TRIES = 3000;
    private static final long SECOND = 1_000_000_000;

    private static TenantDemand wanting(long id, int weight, int capPermille) {
        return new TenantDemand(id, weight, 0, false, capPermille, 0, true, 0, 0, 0);
    }

    private static TenantDemand random(long id, Random random) {
        return new TenantDemand(id, random.nextInt(1100) - 50, random.nextInt(3) - 1, random.nextInt(8) == 0, random.nextBoolean() ? 0 : random.nextInt(1200),
                random.nextBoolean() ? 0 : random.nextLong(2 * SECOND), random.nextBoolean(), random.nextLong(SECOND),
                random.nextInt(1000), random.nextLong(SECOND));
    }

    private static List<TenantDemand> randomStates(Random random) {
        List<TenantDemand> states = new ArrayList<>();
        for (int tenant = random.nextInt(64); tenant >= 0; tenant--) {
            states.add(random(tenant, random));
        }
        return states;
    }

    @Test
    void shouldKeepTurnsInBoundsWhateverIsMeasured() {
        Random random = new Random(1);
        Plan plan = Plan.NONE;
        long now = 0;
        for (int attempt = 0; attempt < TRIES; attempt++) {
            now += random.nextLong(SECOND) - SECOND / 100;
            List<TenantDemand> states = randomStates(random);
            plan = plan.next(now, states);
            assertThat(plan.turns()).hasSize(states.size());
            assertThat(plan.turns().values()).allMatch(turn -> turn.lengthNanos() >= 100_000 && turn.lengthNanos() <= SECOND)
                    .allMatch(turn -> Double.isFinite(turn.lagNanos()));
        }
    }

    @Test
    void shouldMakeLengthsProportionalToWeights() {
        Random random = new Random(2);
        for (int attempt = 0; attempt < TRIES; attempt++) {
            List<TenantDemand> states = new ArrayList<>();
            for (int tenant = random.nextInt(64); tenant >= 0; tenant--) {
                states.add(wanting(tenant, 1 + random.nextInt(1000), 0));
            }
            Plan plan = Plan.NONE.next(1, states);
            double unit = (double) plan.lengthNanos(0) / weight(states, 0);
            for (TenantDemand state : states) {
                assertThat(plan.lengthNanos(state.id()) / unit).isCloseTo(state.weight(), within(0.01 * state.weight()));
            }
        }
    }

    private static int weight(List<TenantDemand> states, long id) {
        return states.stream().filter(state -> state.id() == id).findFirst().orElseThrow().weight();
    }

    @Test
    void shouldHaveTheBaseTurnAsAverage() {
        Plan plan = Plan.NONE.next(1, List.of(wanting(1, 3, 0), wanting(2, 1, 0)));

        assertThat(plan.lengthNanos(1)).isEqualTo(15_000_000);
        assertThat(plan.lengthNanos(2)).isEqualTo(5_000_000);
    }

    @Test
    void shouldMakeTurnsLongerRatherThanShorterThanAMillisecond() {
        Plan plan = Plan.NONE.next(1, List.of(wanting(1, 50, 0), wanting(2, 1, 0)));

        assertThat(plan.lengthNanos(1)).isEqualTo(50_000_000);
        assertThat(plan.lengthNanos(2)).isEqualTo(1_000_000);
    }

    @Test
    void shouldNotMakeTurnsLongerThanATenthOfASecondEvenForTheLargestWeight() {
        Plan plan = Plan.NONE.next(1, List.of(wanting(1, 1000, 0), wanting(2, 1, 0)));

        assertThat(plan.lengthNanos(1)).isEqualTo(100_000_000);
        assertThat(plan.lengthNanos(2)).isEqualTo(100_000);
    }

    @Test
    void shouldGiveTheTurnsThatWereAskedFor() {
        Plan plan = Plan.NONE.next(1, List.of(new TenantDemand(1, 1, 0, true, 0, 500_000, true, 0, 0, 0),
                new TenantDemand(2, 1, 1, false, 0, SECOND, true, 0, 0, 0)));

        assertThat(plan.lengthNanos(1)).isEqualTo(500_000);
        assertThat(plan.lengthNanos(2)).isEqualTo(SECOND);
    }

    @Test
    void shouldGiveACappedTenantNoMoreThanItsCap() {
        Plan plan = Plan.NONE.next(1, List.of(wanting(1, 1, 100), wanting(2, 1, 0), wanting(3, 2, 0)));

        assertThat(plan.lengthNanos(1)).isEqualTo(3_000_000);
        assertThat(plan.lengthNanos(2)).isEqualTo(9_000_000);
        assertThat(plan.lengthNanos(3)).isEqualTo(18_000_000);
    }

    @Test
    void shouldPlanForAReturningTenantAsForTheOthers() {
        TenantDemand idle = new TenantDemand(3, 1, 0, false, 0, 0, false, 0, 0, 0);
        Plan plan = Plan.NONE.next(1, List.of(wanting(1, 1, 0), wanting(2, 1, 0), idle));

        assertThat(plan.lengthNanos(1)).isEqualTo(10_000_000);
        assertThat(plan.lengthNanos(3)).isEqualTo(10_000_000);
    }

    @Test
    void shouldNotDependOnTheOrderOfTenants() {
        Random random = new Random(3);
        for (int attempt = 0; attempt < TRIES / 10; attempt++) {
            List<TenantDemand> states = randomStates(random);
            List<TenantDemand> later = new ArrayList<>(states);
            Plan plan = Plan.NONE.next(1, states).next(SECOND / 10, later);
            Collections.shuffle(states, random);
            Collections.shuffle(later, random);
            Plan shuffled = Plan.NONE.next(1, states).next(SECOND / 10, later);
            plan.turns().forEach((id, turn) -> assertThat((double) shuffled.lengthNanos(id)).isCloseTo(turn.lengthNanos(), within(2.0)));
        }
    }

    @Test
    void shouldGiveMoreToATenantThatWantedMoreThanItHad() {
        List<TenantDemand> before = List.of(wanting(1, 1, 0), wanting(2, 1, 0));
        TenantDemand less = new TenantDemand(1, 1, 0, false, 0, 0, true, 40_000_000, 0, 60_000_000);
        TenantDemand more = new TenantDemand(2, 1, 0, false, 0, 0, true, 60_000_000, 0, 40_000_000);
        Plan plan = Plan.NONE.next(1, before).next(100_000_001, List.of(less, more));

        assertThat(plan.lengthNanos(1)).isGreaterThan(10_000_000);
        assertThat(plan.lengthNanos(2)).isLessThan(10_000_000);
        assertThat(plan.turns().get(1L).lagNanos()).isCloseTo(10_000_000, within(1000.0));
    }

    @Test
    void shouldForgetClaimsOfIdleTenants() {
        List<TenantDemand> before = List.of(wanting(1, 1, 0), wanting(2, 1, 0));
        TenantDemand less = new TenantDemand(1, 1, 0, false, 0, 0, true, 40_000_000, 0, 10_000_000);
        TenantDemand more = new TenantDemand(2, 1, 0, false, 0, 0, true, 60_000_000, 0, 40_000_000);
        Plan plan = Plan.NONE.next(1, before).next(100_000_001, List.of(less, more));

        assertThat(plan.turns().get(1L).lagNanos()).isZero();
        assertThat(plan.lengthNanos(1)).isEqualTo(10_000_000);
    }

    /// Two tenants that always want more, after so many intervals of 100 ms: the first had 40 ms of the first interval, then each its half.
    private static Plan afterTooLittle(int intervals) {
        Plan plan = Plan.NONE.next(1, List.of(wanting(1, 1, 0), wanting(2, 1, 0)));
        for (int at = 1; at <= intervals; at++) {
            plan = plan.next(1 + at * SECOND / 10, List.of(
                    new TenantDemand(1, 1, 0, false, 0, 0, true, at * 50_000_000L - 10_000_000, 0, at * 50_000_000L + 10_000_000),
                    new TenantDemand(2, 1, 0, false, 0, 0, true, at * 50_000_000L + 10_000_000, 0, at * 50_000_000L - 10_000_000)));
        }
        return plan;
    }

    @Test
    void shouldForgetTheClaimOfEarlierWhenATenantGoesIdle() {
        Plan before = afterTooLittle(1);
        assertThat(before.turns().get(1L).lagNanos()).isCloseTo(10_000_000, within(1000.0));

        Plan plan = before.next(2 * SECOND / 10 + 1, List.of(new TenantDemand(1, 1, 0, false, 0, 0, false, 40_000_000, 0, 60_000_000),
                new TenantDemand(2, 1, 0, false, 0, 0, true, 160_000_000, 0, 40_000_000)));

        assertThat(plan.turns().get(1L).lagNanos()).isZero();
        assertThat(plan.lengthNanos(1)).isEqualTo(10_000_000);
    }

    @Test
    void shouldLetClaimsFadeInAMinute() {
        assertThat(afterTooLittle(600).turns().get(1L).lagNanos()).isCloseTo(10_000_000 / Math.E, within(100_000.0));
        assertThat(afterTooLittle(6000).turns().get(1L).lagNanos()).isLessThan(1000);
    }

    /// A claim of any size at most doubles the tenant's turns and halves those of the others.
    @Test
    void shouldDoubleOrHalveTurnsAtTheMost() {
        Plan plan = Plan.NONE.next(1, List.of(wanting(1, 1, 0), wanting(2, 9, 0)));
        for (long step = 1; step <= 60; step++) {
            long passed = step * SECOND / 10;
            plan = plan.next(passed + 1, List.of(new TenantDemand(1, 1, 0, false, 0, 0, true, 0, 0, passed), new TenantDemand(2, 9, 0, false, 0, 0, true, passed, 0, 0)));
        }

        assertThat(plan.turns().get(1L).lagNanos()).as("it is owed much more").isGreaterThan(SECOND / 3.0);
        assertThat((double) plan.lengthNanos(1) / plan.lengthNanos(2)).isCloseTo(4 / 9.0, within(0.01));
    }

    /// After a pause of the agent nobody knows what was measured when.
    @Test
    void shouldMakeNoClaimsOfAnIntervalThatWasTooLong() {
        Plan plan = Plan.NONE.next(1, List.of(wanting(1, 1, 0), wanting(2, 1, 0))).next(10 * SECOND + 1, List.of(
                new TenantDemand(1, 1, 0, false, 0, 0, true, 4 * SECOND, 0, 6 * SECOND), new TenantDemand(2, 1, 0, false, 0, 0, true, 6 * SECOND, 0, 4 * SECOND)));

        assertThat(plan.turns().get(1L).lagNanos()).isZero();
        assertThat(plan.lengthNanos(1)).isEqualTo(10_000_000);
    }

    @Test
    void shouldShareWithinBounds() {
        Random random = new Random(4);
        for (int attempt = 0; attempt < TRIES; attempt++) {
            int size = 1 + random.nextInt(20);
            double[] weights = random.doubles(size, 0.1, 100).toArray();
            double[] bounds = random.doubles(size, 0, 2).toArray();
            double total = random.nextDouble(3);
            double[] shares = Shares.fill(total, weights, bounds);
            assertThat(Shares.sum(shares)).isCloseTo(Math.min(total, Shares.sum(bounds)), within(1e-9));
            for (int at = 0; at < size; at++) {
                assertThat(shares[at]).isBetween(0.0, bounds[at] + 1e-12);
            }
        }
    }

    @Test
    void shouldPlanNothingWithoutTenants() {
        assertThat(Plan.NONE.next(1, List.of()).turns()).isEmpty();
        assertThat(Plan.NONE.lengthNanos(1)).isZero();
    }
}
