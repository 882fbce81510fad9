package sluice.planner;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;
import static sluice.planner.Simulation.MILLI;
import static sluice.planner.Simulation.SECOND;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.assertj.core.data.Offset;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/// Plans against virtual tenants, for hours of virtual time.
class SimulationTest {
    private static final long HOUR = 3600 * SECOND;
    private static final Offset<Double> THREE_PERCENT = within(0.03);

    private static double ratio(VirtualTenant one, VirtualTenant other) {
        return (double) one.usedNanos / other.usedNanos;
    }

    private static double sum(Simulation simulation) {
        return simulation.tenants.stream().mapToDouble(tenant -> tenant.usedNanos).sum() / simulation.nowNanos();
    }

    @ParameterizedTest
    @CsvSource({"1,1,1", "1,2,4", "3,1,1", "1,30,2", "7,5,1000"})
    void shouldShareByWeightForHours(int first, int second, int third) {
        Simulation simulation = new Simulation(true);
        List<VirtualTenant> tenants = List.of(simulation.add().weight(first), simulation.add().weight(second), simulation.add().weight(third));
        simulation.runUntil(2 * HOUR);

        double unit = sum(simulation) * simulation.nowNanos() / (first + second + third);
        for (VirtualTenant tenant : tenants) {
            assertThat(tenant.usedNanos / unit / tenant.weight).isCloseTo(1, THREE_PERCENT);
        }
        assertThat(sum(simulation)).isGreaterThan(0.97);
    }

    /// What a kernel takes too long is repaid up to a hundred turns, here a second.
    @ParameterizedTest
    @CsvSource({"50000,5000000,1", "500000,20000000,1", "1000000,50000000,3", "100000,1000000000,1", "37000000,41000000,2"})
    void shouldShareByWeightWhenKernelsDiffer(long shorter, long longer, int weight) {
        Simulation simulation = new Simulation(true);
        VirtualTenant quick = simulation.add().kernel(shorter).weight(weight);
        VirtualTenant slow = simulation.add().kernel(longer);
        simulation.runUntil(HOUR);

        assertThat(ratio(quick, slow) / weight).isCloseTo(1, THREE_PERCENT);
    }

    /// A tenant that pauses for longer than the grace period after each kernel loses the turn each time. Longer turns do not help it, but
    /// shorter turns of the other tenant do.
    @Test
    void shouldBeBetterThanNoPlan() {
        double[] parts = new double[2];
        for (int planned = 0; planned < 2; planned++) {
            Simulation simulation = new Simulation(planned == 1);
            VirtualTenant thinks = simulation.add().kernel(3 * MILLI).work(Work.always().withGaps(250_000));
            VirtualTenant other = simulation.add().kernel(100_000);
            simulation.runUntil(600 * SECOND);
            parts[planned] = ratio(thinks, other);
        }
        assertThat(parts[1]).isGreaterThan(2 * parts[0]).isLessThan(1.03);
    }

    @Test
    void shouldGiveEqualSharesToTurnsOfDifferentLengths() {
        Simulation simulation = new Simulation(true);
        VirtualTenant brief = simulation.add().turn(2 * MILLI);
        VirtualTenant usual = simulation.add();
        simulation.runUntil(600 * SECOND);

        assertThat(ratio(brief, usual)).isCloseTo(1, THREE_PERCENT);
    }

    /// A tenant that wants the GPU all the time has at least its share, whatever the others do.
    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8})
    void shouldStarveNoTenantWhateverTheOthersDo(long seed) {
        Random random = new Random(seed);
        Simulation simulation = new Simulation(true);
        VirtualTenant steady = simulation.add().weight(1 + random.nextInt(5)).kernel(200_000 + random.nextInt(3_000_000));
        int weights = steady.weight;
        for (int other = 1 + random.nextInt(7); other > 0; other--) {
            VirtualTenant tenant = simulation.add().weight(1 + random.nextInt(5)).kernel(50_000 + random.nextInt(10_000_000));
            weights += tenant.weight;
            tenant.work(random.nextBoolean() ? Work.always()
                    : random.nextBoolean() ? Work.phases(random.nextLong(), 1 + random.nextInt(3) * SECOND + random.nextInt((int) SECOND))
                    : Work.bursts((20 + random.nextInt(200)) * MILLI, 1 + random.nextInt(10)));
        }
        simulation.runUntil(HOUR / 2);

        assertThat((double) steady.usedNanos / simulation.nowNanos()).isGreaterThan(0.95 * steady.weight / weights);
    }

    @ParameterizedTest
    @ValueSource(longs = {11, 12, 13, 14})
    void shouldConvergeWheneverTheyCome(long seed) {
        Random random = new Random(seed);
        Simulation simulation = new Simulation(true);
        VirtualTenant first = simulation.add().weight(1 + random.nextInt(9)).kernel(100_000 + random.nextInt(4_000_000));
        VirtualTenant second = simulation.add().weight(1 + random.nextInt(9)).kernel(100_000 + random.nextInt(4_000_000));
        simulation.add().work(Work.phases(seed, 3 * SECOND)).kernel(500_000);
        simulation.add().work(Work.bursts(33 * MILLI, 4)).weight(2);
        simulation.runUntil(HOUR);

        assertThat(ratio(first, second) * second.weight / first.weight).isCloseTo(1, THREE_PERCENT);
    }

    @ParameterizedTest
    @CsvSource({"100,1000000", "250,50000", "500,1000000", "750,500000", "250,5000000"})
    void shouldNeverExceedACapInAnySecond(int permille, long kernel) {
        Simulation simulation = new Simulation(true);
        VirtualTenant capped = simulation.add().cap(permille).kernel(kernel);
        VirtualTenant other = simulation.add().kernel(700_000).work(Work.phases(7, 5 * SECOND));
        List<Long> used = new ArrayList<>();
        simulation.observe(now -> used.add(capped.usedNanos));
        simulation.runUntil(HOUR / 4);

        double cap = permille / 1000.0;
        for (int at = 20; at < used.size(); at++) {
            assertThat((used.get(at) - used.get(at - 10)) / (double) SECOND).isLessThan(cap + 0.02 + kernel / (double) SECOND);
        }
        assertThat(capped.usedNanos / (double) simulation.nowNanos()).isLessThanOrEqualTo(cap * 1.001);
        assertThat(other.usedNanos).isPositive();
    }

    /// It may have less than its cap: while it waits for its turn it loses what it has saved of more than 15 ms of GPU time.
    @Test
    void shouldGiveToOthersWhatACapLeaves() {
        Simulation simulation = new Simulation(true);
        VirtualTenant capped = simulation.add().cap(200);
        VirtualTenant one = simulation.add();
        VirtualTenant three = simulation.add().weight(3);
        simulation.runUntil(HOUR / 4);

        assertThat(capped.usedNanos / (double) simulation.nowNanos()).isBetween(0.15, 0.2001);
        assertThat(ratio(three, one)).isCloseTo(3, within(0.1));
        assertThat(sum(simulation)).isGreaterThan(0.95);
    }

    @Test
    void shouldReturnLentTimeWithinTwoTurns() {
        Simulation simulation = new Simulation(true);
        VirtualTenant lender = simulation.add().work(Work.phases(3, 4 * SECOND)).weight(3);
        VirtualTenant borrower = simulation.add();
        simulation.runUntil(HOUR / 4);

        // Two turns of the other, one kernel that runs, and two hand-overs.
        assertThat(lender.longestWaitNanos).isLessThan(2 * 10 * MILLI + 2 * MILLI);
        assertThat(borrower.usedNanos + lender.usedNanos).isGreaterThan((long) (0.97 * simulation.nowNanos()));
    }

    /// After an hour of idleness it has its half, not more.
    @Test
    void shouldHaveNoClaimOnThePast() {
        Simulation simulation = new Simulation(true);
        VirtualTenant late = simulation.add().work(Work.between(HOUR, Work.NEVER));
        VirtualTenant early = simulation.add();
        simulation.runUntil(HOUR);
        long before = early.usedNanos;
        simulation.runUntil(HOUR + 2 * SECOND);

        assertThat(late.usedNanos / (double) (early.usedNanos - before)).isCloseTo(1, THREE_PERCENT);
    }

    @Test
    void shouldServeAHigherPriorityFirstAndGiveTheRestToALower() {
        Simulation simulation = new Simulation(true);
        VirtualTenant high = simulation.add().priority(1).work(Work.bursts(20 * MILLI, 2));
        VirtualTenant low = simulation.add().priority(-1);
        simulation.runUntil(HOUR / 4);

        assertThat(high.longestWaitNanos).isLessThanOrEqualTo(low.kernelNanos + 150_000);
        assertThat(high.usedNanos / (double) simulation.nowNanos()).isCloseTo(0.1, within(0.001));
        assertThat(low.usedNanos / (double) simulation.nowNanos()).isGreaterThan(0.9 * 0.9);
    }

    /// What a higher priority leaves is shared by weights and held to caps of the whole GPU.
    @Test
    void shouldKeepCapsAndWeightsInALowerPriority() {
        Simulation simulation = new Simulation(true);
        simulation.add().priority(1).work(Work.bursts(20 * MILLI, 10));
        VirtualTenant capped = simulation.add().cap(100);
        VirtualTenant one = simulation.add();
        VirtualTenant two = simulation.add().weight(2);
        simulation.runUntil(HOUR / 4);

        assertThat(capped.usedNanos / (double) simulation.nowNanos()).isBetween(0.05, 0.1001);
        assertThat(ratio(two, one)).isCloseTo(2, within(0.06));
    }

    @Test
    void shouldServeInTheOrderOfArrivalWhenExclusive() {
        Simulation simulation = new Simulation(true);
        for (int tenant = 0; tenant < 5; tenant++) {
            simulation.add().exclusive().turn(5 * MILLI).kernel(500_000);
        }
        simulation.runUntil(600 * SECOND);

        VirtualTenant first = simulation.tenants.getFirst();
        for (VirtualTenant tenant : simulation.tenants) {
            assertThat(ratio(tenant, first)).isCloseTo(1, within(0.001));
            assertThat(tenant.planNanos).isEqualTo(5 * MILLI);
            assertThat(tenant.longestWaitNanos).isLessThan(4 * (5 * MILLI + 500_000 + 150_000));
        }
    }

    @Test
    void shouldPlanForTenantsThatJoinAndLeave() {
        Simulation simulation = new Simulation(true);
        VirtualTenant always = simulation.add();
        for (int tenant = 0; tenant < 60; tenant++) {
            simulation.add().work(Work.between(tenant * 10 * SECOND, (tenant * 10 + 35) * SECOND)).kernel(300_000 + tenant * 100_000L);
        }
        simulation.runUntil(600 * SECOND);

        assertThat(always.usedNanos / (double) simulation.nowNanos()).isCloseTo(1 / 4.5, within(0.02));
        assertThat(simulation.tenants).allMatch(tenant -> tenant.done > 0);
    }
}
