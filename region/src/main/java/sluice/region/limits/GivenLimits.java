package sluice.region.limits;

import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import sluice.region.place.SluiceException;

/// Limits as a source gives them to a job: `memory=4g compute=25% weight=3`.
///
/// @param words  the limits that it names, as they were written
/// @param limits their values, with defaults for limits that it does not name
public record GivenLimits(LimitSource source, Map<Limit, String> words, Limits limits) {
    public static GivenLimits none(LimitSource source) {
        return of(source, Map.of());
    }

    public static GivenLimits of(LimitSource source, Map<Limit, String> words) {
        Map<Limit, String> named = new EnumMap<>(Limit.class);
        named.putAll(words);
        Limits limits = Limits.NONE;
        for (Map.Entry<Limit, String> word : named.entrySet()) {
            try {
                limits = word.getKey().put(limits, word.getValue(), false);
            } catch (SluiceException e) {
                throw new SluiceException(word.getKey().word() + ": " + e.getMessage(), e);
            }
        }
        return new GivenLimits(source, Collections.unmodifiableMap(named), limits);
    }

    public boolean names(Limit limit) {
        return words.containsKey(limit);
    }

    /// A request that a job cannot make, in a sentence: strict caps without a cap.
    public Optional<String> mistake() {
        return limits.compute().lacksCap() ? Optional.of("--strict holds the cap of --compute, and there is none; add a cap, as in --compute 10% --strict")
                : Optional.empty();
    }

    /// The limits of a job that asks for these under a policy: bounded limits are cut to the policy's, all others stay as asked.
    public Limits within(GivenLimits policy) {
        Limits granted = limits;
        for (Limit limit : Limit.values()) {
            if (limit.isBoundBy(policy)) {
                granted = limit.within(granted, names(limit), policy.limits);
            }
        }
        return granted;
    }

    /// The limits that were asked for and granted differently, in sentences.
    public List<String> missing(Limits granted) {
        List<String> missing = new ArrayList<>();
        for (Limit limit : words.keySet()) {
            String has = limit.format(granted);
            if (!has.equals(limit.format(limits))) {
                missing.add(limit.word() + " is " + has + " and not " + limit.format(limits));
            }
        }
        return missing;
    }

    /// Whether a limit may be set to a value under these limits of a policy.
    public boolean allow(Limit limit, String value) {
        if (!limit.isBoundBy(this)) {
            return true;
        }
        try {
            GivenLimits asked = of(LimitSource.COMMAND_LINE, Map.of(limit, value));
            return asked.missing(asked.within(this)).isEmpty();
        } catch (SluiceException e) {
            return false;
        }
    }
}
