package sluice.api.model;

import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import sluice.region.limits.Limit;
import sluice.region.place.SluiceException;

/// A part of a node's GPUs that a cluster gave away. A node program declares it to the node's agent; all processes that register with the
/// claim's token are one tenant and have its limits.
///
/// @param id        the cluster's, never used again
/// @param gpus      UUIDs
/// @param limits    as people write them
/// @param namespace of claim and pod
/// @param claim     its name
/// @param pod       the first that uses it
/// @param container empty if several containers of the pod use it
public record NodeClaim(String id, List<String> gpus, Map<Limit, String> limits, String namespace, String claim, String pod, String container) {
    /// What the label of a process of the claim begins with; the token follows.
    public static final String LABEL = "claim:";
    private static final Pattern ID = Pattern.compile("[0-9A-Za-z][0-9A-Za-z-]{0,62}");
    private static final Pattern NAME = Pattern.compile("[0-9A-Za-z._-]{0,253}");
    private static final Pattern TOKEN = Pattern.compile("[0-9A-Za-z_-]{32,57}");
    private static final String PREFIX = "k8s.";
    private static final int NAME_LENGTH = 63;
    private static final int ID_LENGTH = 8;

    public NodeClaim {
        gpus = List.copyOf(gpus);
        Map<Limit, String> named = new EnumMap<>(Limit.class);
        named.putAll(limits);
        limits = Map.copyOf(named);
        checkId(id);
        for (String name : List.of(namespace, claim, pod, container)) {
            if (!NAME.matcher(name).matches()) {
                throw new SluiceException("'" + name + "' is no name of Kubernetes; is the node program of the agent's version?");
            }
        }
    }

    /// Ids are names of files too.
    public static void checkId(String id) {
        if (!ID.matcher(id).matches()) {
            throw new SluiceException("'" + id + "' is no id of a claim; use 1 to 63 letters, digits or '-', not beginning with '-'");
        }
    }

    /// It must be too long to be guessed, and short enough for a label.
    public static void checkToken(String token) {
        if (!TOKEN.matcher(token).matches()) {
            throw new SluiceException("a token has 32 to 57 letters, digits, '_' or '-'");
        }
    }

    /// The tenant's name.
    public String tenant() {
        String name = PREFIX + namespace + "." + claim;
        String end = "-" + id.substring(0, Math.min(ID_LENGTH, id.length()));
        return name.length() <= NAME_LENGTH ? name : name.substring(0, NAME_LENGTH - end.length()) + end;
    }

    /// The user of the claim, for people.
    public String user() {
        return namespace + "/" + pod + (container.isEmpty() ? "" : "/" + container);
    }
}
