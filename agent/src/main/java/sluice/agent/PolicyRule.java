package sluice.agent;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import sluice.region.ComputeCaps;
import sluice.region.ComputeLimits;
import sluice.region.MemoryLimits;
import sluice.region.OnError;
import sluice.region.OnOom;
import sluice.region.Priority;
import sluice.region.RegionDraft;
import sluice.region.SluiceException;
import sluice.region.TurnLength;

/// One line of the policy: `user=alice cgroup=/kubepods* label=small -> memory=4g compute=25%`.
///
/// @param user   none: any
/// @param cgroup pattern with `*` for a cgroup's path
/// @param label  pattern with `*` for what the job calls itself
/// @param tenant name of the one tenant that all who fit are; none: a container or a tree of processes is one
record PolicyRule(Optional<Long> user, Optional<Pattern> cgroup, Optional<Pattern> label, boolean refused, Optional<String> tenant,
        MemoryLimits memory, ComputeLimits compute, OnOom onOom, OnError onError) {
    private static final List<String> CONDITIONS = List.of("user", "cgroup", "label");
    private static final List<String> LIMITS =
            List.of("memory", "compute", "weight", "priority", "exclusive", "turn", "on-oom", "on-error", "tenant");
    private static final String REFUSE = "refuse";

    static PolicyRule parse(String line) {
        int arrow = line.indexOf("->");
        if (arrow < 0) {
            throw new SluiceException("'" + line + "' is no rule; write who -> limits, as in user=alice -> memory=4g");
        }
        String who = line.substring(0, arrow).strip();
        String what = line.substring(arrow + 2).strip();
        Map<String, String> conditions = who.equals("*") ? Map.of() : words(who, CONDITIONS, "conditions");
        boolean refused = what.equals(REFUSE);
        Map<String, String> limits = refused ? Map.of() : words(what, LIMITS, "limits");
        Optional<String> tenant = Optional.ofNullable(limits.get("tenant"));
        tenant.ifPresent(RegionDraft::checkName);
        return new PolicyRule(value(conditions, "user", CoreSettings::user), value(conditions, "cgroup", PolicyRule::glob),
                value(conditions, "label", PolicyRule::glob), refused, tenant,
                value(limits, "memory", MemoryLimits::parse).orElse(MemoryLimits.none()), compute(limits),
                value(limits, "on-oom", OnOom::parse).orElse(OnOom.FAIL), value(limits, "on-error", OnError::parse).orElse(OnError.FAIL));
    }

    private static Map<String, String> words(String text, List<String> known, String kind) {
        Map<String, String> words = new HashMap<>();
        for (String word : text.isEmpty() ? new String[0] : text.split("\\s+")) {
            int equals = word.indexOf('=');
            String name = equals < 0 ? word : word.substring(0, equals);
            if (equals < 0 || !known.contains(name)) {
                throw new SluiceException("'" + word + "' is none of the " + kind + "; write " + String.join("=, ", known) + "="
                        + (kind.equals("limits") ? ", or " + REFUSE : ", or * for everybody"));
            }
            if (words.put(name, word.substring(equals + 1)) != null) {
                throw new SluiceException(name + " is there twice; keep one");
            }
        }
        if (words.isEmpty()) {
            throw new SluiceException("there are no " + kind + "; write " + String.join("=, ", known) + "="
                    + (kind.equals("limits") ? ", or " + REFUSE : ", or * for everybody"));
        }
        return words;
    }

    private static <T> Optional<T> value(Map<String, String> words, String name, Function<String, T> parser) {
        try {
            return Optional.ofNullable(words.get(name)).map(parser);
        } catch (SluiceException e) {
            throw new SluiceException(name + ": " + e.getMessage(), e);
        }
    }

    private static ComputeLimits compute(Map<String, String> limits) {
        Optional<Integer> weight = value(limits, "weight", ComputeLimits::parseWeight);
        Optional<Priority> priority = value(limits, "priority", Priority::parse);
        Optional<Integer> turn = value(limits, "turn", TurnLength::parse);
        boolean exclusive = value(limits, "exclusive", ComputeLimits::parseExclusive).orElse(false);
        return new ComputeLimits(value(limits, "compute", ComputeCaps::parse).orElse(ComputeCaps.none()),
                weight.isPresent() || priority.isPresent() || turn.isPresent() || exclusive, weight.orElse(1),
                priority.orElse(Priority.NORMAL), exclusive, turn.orElse(0));
    }

    private static Pattern glob(String text) {
        return Pattern.compile(text.chars().mapToObj(c -> c == '*' ? ".*" : Pattern.quote(Character.toString(c))).collect(Collectors.joining()),
                Pattern.DOTALL);
    }

    boolean fits(RegisteringPeer peer, String wanted) {
        return (user.isEmpty() || user.get() == peer.uid())
                && (cgroup.isEmpty() || cgroup.get().matcher(peer.cgroup()).matches())
                && (label.isEmpty() || label.get().matcher(wanted).matches());
    }
}
