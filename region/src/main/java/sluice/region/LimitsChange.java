package sluice.region;

import java.nio.file.Path;
import java.util.Collections;
import java.util.EnumMap;
import java.util.Map;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.function.Predicate;
import sluice.region.limits.Limit;
import sluice.region.limits.LimitFields;
import sluice.region.place.SluiceException;

/// A change of the limits of a tenant that runs. It holds from the next allocation and the next call that submits work on.
///
/// @param words new values as people write them; limits that are not named stay as they are
public record LimitsChange(Map<Limit, String> words) {
    /// Throws if a value is invalid.
    public LimitsChange {
        Map<Limit, String> named = new EnumMap<>(Limit.class);
        named.putAll(words);
        named.forEach((limit, text) -> limit.check(text, true));
        words = Collections.unmodifiableMap(named);
    }

    public static LimitsChange of(Limit limit, String text) {
        return new LimitsChange(Map.of(limit, text));
    }

    public boolean isEmpty() {
        return words.isEmpty();
    }

    public boolean names(Limit limit) {
        return words.containsKey(limit);
    }

    /// Whether it changes a limit of turns.
    public boolean isOfTurns() {
        return words.keySet().stream().anyMatch(Limit::isOfTurns);
    }

    public boolean isOfGpuTime() {
        return words.keySet().stream().anyMatch(Limit::isOfGpuTime);
    }

    /// The GPUs that it is for; empty when it is for all.
    public SortedSet<Integer> gpus() {
        SortedSet<Integer> gpus = new TreeSet<>();
        words.forEach((limit, text) -> gpus.addAll(limit.gpus(text)));
        return gpus;
    }

    /// As [#apply(Path)], for a tenant that was seen. Its file may now be another tenant's.
    public Tenant apply(Tenant seen) {
        return apply(seen.file(), before -> before.uid() == seen.uid() && before.createdNanos() == seen.createdNanos());
    }

    /// Writes the limits, then the word that counts their changes. Returns the limits in the region afterwards.
    public Tenant apply(Path file) {
        return apply(file, before -> true);
    }

    private Tenant apply(Path file, Predicate<Tenant> expected) {
        try (ChangeLock _ = ChangeLock.of(file); Region region = Region.openReadWrite(file)) {
            Tenant before = new TenantReader(region).read();
            if (!expected.test(before)) {
                throw new SluiceException("the region " + file + " is another tenant's now; look again");
            }
            if (!before.state().lives()) {
                throw new SluiceException("tenant '" + before.name() + "' has ended; only the limits of a running one can be set");
            }
            LimitFields.write(before.limits().changed(words), region.firstPage());
            if (names(Limit.COMPUTE)) {
                region.limits().capWhenShared(0);
            }
            region.limits().addEpoch(1);
            return new TenantReader(region).read();
        }
    }
}
