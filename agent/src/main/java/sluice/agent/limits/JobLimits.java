package sluice.agent.limits;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import sluice.region.limits.ComputeCaps;
import sluice.region.limits.ComputeLimits;
import sluice.region.limits.MemoryLimits;
import sluice.region.limits.OnError;
import sluice.region.limits.OnOom;
import sluice.region.limits.Priority;
import sluice.region.limits.TurnLength;
import sluice.region.place.SluiceException;

/// Limits of a job in words, as a policy gives them and as `sluice run` asks for them: `memory=4g compute=25% weight=3`.
///
/// @param named which of them are said; the others are the defaults
public record JobLimits(Set<String> named, MemoryLimits memory, ComputeLimits compute, OnOom onOom, OnError onError) {
    public static final List<String> NAMES = List.of("memory", "compute", "weight", "priority", "exclusive", "turn", "on-oom", "on-error");

    private static final List<String> SHARES = List.of("weight", "priority", "exclusive", "turn");

    public static JobLimits parse(Map<String, String> words) {
        Optional<Integer> weight = value(words, "weight", ComputeLimits::parseWeight);
        Optional<Priority> priority = value(words, "priority", Priority::parse);
        Optional<Integer> turn = value(words, "turn", TurnLength::parse);
        boolean exclusive = value(words, "exclusive", ComputeLimits::parseExclusive).orElse(false);
        ComputeLimits compute = new ComputeLimits(value(words, "compute", ComputeCaps::parse).orElse(ComputeCaps.none()),
                weight.isPresent() || priority.isPresent() || turn.isPresent() || exclusive, weight.orElse(1),
                priority.orElse(Priority.NORMAL), exclusive, turn.orElse(0));
        return new JobLimits(Set.copyOf(words.keySet()), value(words, "memory", MemoryLimits::parse).orElse(MemoryLimits.none()), compute,
                value(words, "on-oom", OnOom::parse).orElse(OnOom.FAIL), value(words, "on-error", OnError::parse).orElse(OnError.FAIL));
    }

    /// The words of a text, each `name=value` with one of some names, and each once.
    public static Map<String, String> words(String text, List<String> known, String kind, String otherwise) {
        Map<String, String> words = new HashMap<>();
        for (String word : text.isEmpty() ? new String[0] : text.split("\\s+")) {
            int equals = word.indexOf('=');
            String name = equals < 0 ? word : word.substring(0, equals);
            if (equals < 0 || !known.contains(name)) {
                throw new SluiceException("'" + word + "' is none of the " + kind + "; write " + String.join("=, ", known) + "=" + otherwise);
            }
            if (words.put(name, word.substring(equals + 1)) != null) {
                throw new SluiceException(name + " is there twice; keep one");
            }
        }
        return words;
    }

    public static <T> Optional<T> value(Map<String, String> words, String name, Function<String, T> parser) {
        try {
            return Optional.ofNullable(words.get(name)).map(parser);
        } catch (SluiceException e) {
            throw new SluiceException(name + ": " + e.getMessage(), e);
        }
    }

    /// Whether anything holds of them.
    public boolean isLimited() {
        return !memory.isEmpty() || compute.takesPart();
    }

    /// What a job gets that asks for these under a policy: of all that the policy names at most that, of the rest what it asks for.
    public JobLimits within(JobLimits policy) {
        long[] bytes = new long[MemoryLimits.GPUS];
        int[] caps = new int[MemoryLimits.GPUS];
        for (int gpu = 0; gpu < MemoryLimits.GPUS; gpu++) {
            bytes[gpu] = least(memory.bytes(gpu), policy.memory.bytes(gpu));
            caps[gpu] = (int) least(compute.caps().permille(gpu), policy.compute.caps().permille(gpu));
        }
        return new JobLimits(named, MemoryLimits.of(bytes), policy.compute.turns() ? shares(ComputeCaps.of(caps), policy.compute)
                : new ComputeLimits(ComputeCaps.of(caps), compute.turns(), compute.weight(), compute.priority(), compute.exclusive(), compute.turnMicros()),
                named.contains("on-oom") ? onOom : policy.onOom,
                onError == OnError.FAIL || policy.onError == OnError.FAIL && !policy.named.isEmpty() ? OnError.FAIL : OnError.RUN);
    }

    /// A policy that says anything of turns says all of them: a small weight with a high priority would be no bound.
    private ComputeLimits shares(ComputeCaps caps, ComputeLimits policy) {
        int weight = named.contains("weight") ? Math.min(compute.weight(), policy.weight()) : policy.weight();
        boolean lower = named.contains("priority") && compute.priority().compareTo(policy.priority()) < 0;
        boolean shorter = named.contains("turn") && compute.turnNanos() < policy.turnNanos();
        return new ComputeLimits(caps, true, weight, lower ? compute.priority() : policy.priority(), policy.exclusive(),
                shorter ? compute.turnMicros() : policy.turnMicros());
    }

    /// 0 is none.
    private static long least(long first, long second) {
        return first == 0 ? second : second == 0 ? first : Math.min(first, second);
    }

    /// Whether a limit may be set to a value under these, which are of a policy.
    public boolean allows(String name, String value) {
        boolean bounded = named.contains(name) || SHARES.contains(name) && compute.turns();
        if (!bounded) {
            return true;
        }
        try {
            JobLimits asked = parse(Map.of(name, value));
            return name.equals("on-oom") || asked.within(this).said(name).equals(asked.said(name));
        } catch (SluiceException e) {
            return false;
        }
    }

    /// Which of the words that were asked for hold less than that.
    public List<String> lessThan(JobLimits asked) {
        List<String> less = new ArrayList<>();
        for (String name : NAMES) {
            if (asked.named.contains(name) && !said(name).equals(asked.said(name))) {
                less.add(name + " is " + said(name) + " and not " + asked.said(name));
            }
        }
        return less;
    }

    private String said(String name) {
        return switch (name) {
            case "memory" -> memory.toString();
            case "compute" -> compute.caps().toString();
            case "weight" -> Integer.toString(compute.weight());
            case "priority" -> compute.priority().word();
            case "exclusive" -> compute.exclusive() ? "on" : "off";
            case "turn" -> compute.turnNanos() / 1000 + " us";
            case "on-oom" -> onOom.toString();
            default -> onError.word();
        };
    }
}
