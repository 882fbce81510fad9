package sluice.cli.tables;

import java.time.Instant;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import sluice.cli.output.Table;
import sluice.cli.output.Text;
import sluice.region.GpuTime;
import sluice.region.Tenant;
import sluice.region.TenantGpu;
import sluice.region.limits.ComputeLimits;
import sluice.region.limits.Percent;
import sluice.region.limits.Priority;
import sluice.region.limits.TurnLength;

/// The GPU time that a tenant asked for, and the time that it got, for people.
public final class ShareText {
    /// The cap lets work through in windows. So the tenant may always be ahead of its cap by less than this.
    private static final long ORDINARY_NANOS = 20_000_000;
    private static final long NOTEWORTHY_NANOS = 1_000_000_000;
    private static final int STARVED_PERMILLE = 50;
    private static final DateTimeFormatter CLOCK = DateTimeFormatter.ofPattern("HH:mm:ss");

    private ShareText() {}

    /// The limits that it asked for on a GPU: `25%`, `w3`, `25% strict w3 high`, `w1 excl`.
    public static String asked(ComputeLimits limits, int capPermille) {
        List<String> words = new ArrayList<>();
        if (capPermille != 0) {
            words.add(Percent.format(capPermille) + (limits.strict() ? " strict" : ""));
        }
        if (limits.turns()) {
            words.add("w" + limits.weight());
        }
        if (limits.priority() != Priority.NORMAL) {
            words.add(limits.priority().word());
        }
        if (limits.exclusive()) {
            words.add("excl");
        }
        return words.isEmpty() ? Table.NOTHING : String.join(" ", words);
    }

    /// How it takes turns, in full.
    public static String turns(ComputeLimits limits) {
        if (!limits.turns()) {
            return limits.takesPart() ? "weight 1, because of its cap" : "none";
        }
        return "weight " + limits.weight() + ", priority " + limits.priority().word() + (limits.exclusive() ? ", exclusive" : "")
                + ", each " + TurnLength.format(limits.turnMicros());
    }

    public static String got(int permille) {
        return permille < 0 ? Table.NOTHING : permille / 10 + "." + permille % 10 + "%";
    }

    static String used(GpuTime time) {
        return time.measured() ? Text.duration(time.usedNanos()) : Table.NOTHING;
    }

    static String waited(GpuTime time) {
        return time.waitedNanos() == 0 ? Table.NOTHING : Text.duration(time.waitedNanos());
    }

    public static String debt(Tenant tenant, GpuTime time) {
        return tenant.state().lives() && time.repayNanos() > ORDINARY_NANOS ? Text.duration(time.debtNanos()) : Table.NOTHING;
    }

    /// Limits that do not hold as they were asked for, in sentences.
    public static List<String> notes(Tenant tenant, Instant now) {
        List<String> notes = new ArrayList<>();
        for (TenantGpu gpu : tenant.gpus()) {
            GpuTime time = gpu.time();
            if (tenant.state().lives() && time.repayNanos() > NOTEWORTHY_NANOS) {
                notes.add("GPU " + gpu.index() + ": " + Text.duration(time.debtNanos()) + " of GPU time ahead of its cap, repaid by "
                        + CLOCK.format(now.plusNanos(time.repayNanos()).atZone(ZoneId.systemDefault())));
            }
            if (isStarved(tenant, time)) {
                notes.add("GPU " + gpu.index() + ": waited " + Text.duration(time.turnWaitedNanos())
                        + " for turns: low gets only what higher priorities leave, here less than 5%; a weight gives it a part");
            }
            if (time.unmeteredCalls() > 0) {
                notes.add("GPU " + gpu.index() + ": the GPU time of " + time.unmeteredCalls()
                        + " calls could not be measured; it is in no figure and under no cap");
            }
        }
        return notes;
    }

    /// That caps hold only as without `strict`, and why; empty where they hold as asked.
    public static Optional<String> notStrict(Tenant tenant) {
        return tenant.notStrict().map(why -> "its cap is not strict, a kernel that takes longer is repaid: " + why);
    }

    private static boolean isStarved(Tenant tenant, GpuTime time) {
        return tenant.state().lives() && tenant.compute().priority() == Priority.LOW && time.gotPermille() < STARVED_PERMILLE
                && time.turnWaitedNanos() > NOTEWORTHY_NANOS;
    }
}
