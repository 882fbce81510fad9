package sluice.agent.registration;

import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import sluice.agent.limits.NamedWords;
import sluice.agent.os.RegisteringPeer;
import sluice.region.RegionDraft;
import sluice.region.limits.GivenLimits;
import sluice.region.limits.LimitSource;
import sluice.region.place.SluiceException;

/// The agent's end of [sluice.api.client.RunRegistration]. A limit that the agent does not know is refused: the job would run without it.
final class RunRequests {
    private static final List<String> NAMES = Stream.concat(NamedWords.LIMITS.stream(), Stream.of("name", "command", "features", "version")).toList();

    private RunRequests() {}

    /// @param words after the label
    static String answer(Registrar registrar, RegisteringPeer peer, String label, List<String> words) {
        Map<String, String> asked = NamedWords.parse(String.join(" ", words), NAMES, "limits", "");
        String name = asked.get("name");
        String command = asked.get("command");
        if (name == null || command == null) {
            throw new SluiceException("a job has a name and a command; is this sluice of the agent's version?");
        }
        RegionDraft.checkName(name);
        Registrar.Granted granted = registrar.run(peer, label, name, decoded(command), GivenLimits.of(LimitSource.COMMAND_LINE, NamedWords.limits(asked)));
        return "ok " + granted.tenant().name() + " limited=" + (granted.limits().isLimited() ? "yes" : "no") + " on-error="
                + granted.limits().onError().word() + (granted.less().isEmpty() ? "" : " " + granted.less()) + "\n";
    }

    private static String decoded(String command) {
        try {
            return URLDecoder.decode(command, StandardCharsets.UTF_8);
        } catch (IllegalArgumentException e) {
            throw new SluiceException("the command is not encoded as it should be", e);
        }
    }
}
