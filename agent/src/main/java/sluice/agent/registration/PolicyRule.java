package sluice.agent.registration;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import sluice.agent.limits.NamedWords;
import sluice.agent.os.RegisteringPeer;
import sluice.agent.settings.CoreSettings;
import sluice.region.RegionDraft;
import sluice.region.limits.GivenLimits;
import sluice.region.limits.LimitSource;
import sluice.region.place.SluiceException;

/// One line of the policy: `user=alice cgroup=/kubepods* label=small -> memory=4g compute=25%`.
///
/// @param tenant name of the one tenant for all jobs that fit; none: each container or process tree is a tenant
record PolicyRule(Conditions conditions, boolean refused, Optional<String> tenant, GivenLimits limits) {
    /// The jobs that a rule fits; none: any.
    ///
    /// @param cgroup pattern with `*` for a cgroup's path
    /// @param label  pattern with `*` for the job's label
    record Conditions(Optional<Long> user, Optional<Pattern> cgroup, Optional<Pattern> label) {
        static Conditions of(Map<String, String> words) {
            return new Conditions(NamedWords.value(words, "user", CoreSettings::user), NamedWords.value(words, "cgroup", PolicyRule::glob),
                    NamedWords.value(words, "label", PolicyRule::glob));
        }
    }
    private static final List<String> CONDITIONS = List.of("user", "cgroup", "label");
    private static final List<String> LIMITS = Stream.concat(NamedWords.LIMITS.stream(), Stream.of("tenant")).toList();
    private static final String REFUSE = "refuse";
    /// The rule without a policy: every job gets the limits that it asks for.
    static final PolicyRule AS_ASKED = new PolicyRule(Conditions.of(Map.of()), false, Optional.empty(), GivenLimits.none(LimitSource.POLICY));

    static PolicyRule parse(String line) {
        int arrow = line.indexOf("->");
        if (arrow < 0) {
            throw new SluiceException("'" + line + "' is no rule; write who -> limits, as in user=alice -> memory=4g");
        }
        String who = line.substring(0, arrow).strip();
        String what = line.substring(arrow + 2).strip();
        Map<String, String> conditions = who.equals("*") ? Map.of() : words(who, CONDITIONS, "conditions", ", or * for everybody");
        boolean refused = what.equals(REFUSE);
        Map<String, String> limits = refused ? Map.of() : words(what, LIMITS, "limits", ", or " + REFUSE);
        Optional<String> tenant = Optional.ofNullable(limits.get("tenant"));
        tenant.ifPresent(RegionDraft::checkName);
        return new PolicyRule(Conditions.of(conditions), refused, tenant, GivenLimits.of(LimitSource.POLICY, NamedWords.limits(limits)));
    }

    private static Map<String, String> words(String text, List<String> known, String kind, String otherwise) {
        Map<String, String> words = NamedWords.parse(text, known, kind, otherwise);
        if (words.isEmpty()) {
            throw new SluiceException("there are no " + kind + "; write " + String.join("=, ", known) + "=" + otherwise);
        }
        return words;
    }

    private static Pattern glob(String text) {
        return Pattern.compile(text.chars().mapToObj(c -> c == '*' ? ".*" : Pattern.quote(Character.toString(c))).collect(Collectors.joining()),
                Pattern.DOTALL);
    }

    boolean fits(RegisteringPeer peer, String wanted) {
        return conditions.user().map(user -> user == peer.uid()).orElse(true)
                && conditions.cgroup().map(cgroup -> cgroup.matcher(peer.cgroup()).matches()).orElse(true)
                && conditions.label().map(label -> label.matcher(wanted).matches()).orElse(true);
    }
}
