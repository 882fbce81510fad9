package sluice.agent.claims;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import sluice.api.json.JsonBytes;
import sluice.api.json.JsonTree;
import sluice.api.json.NodeClaimJson;
import sluice.api.model.NodeClaim;
import sluice.linux.DurableFolder;
import sluice.region.limits.GivenLimits;
import sluice.region.limits.LimitSource;
import sluice.region.place.SluiceException;

/// All claims that hold. Of a token it keeps a digest, so the agent's files give no process a claim.
///
/// The files outlive the agent, and need not outlive the machine: the node program has its claims on disk and declares them again. So nobody waits for
/// the disk here, where fifty claims at once waited for each other.
public final class DeclaredClaims {
    private static final String SUFFIX = ".json";
    private static final int MOST = 4096;

    private final DurableFolder folder;
    /// By the digests of their tokens.
    private final Map<String, NodeClaim> claims = new HashMap<>();
    private final Map<String, NodeClaim> byId = new ConcurrentHashMap<>();

    /// Reads those that were declared to an agent before this one. A damaged file is removed: the node program declares its claims again.
    public DeclaredClaims(Path path) {
        try {
            folder = DurableFolder.make(path);
            for (Map.Entry<String, byte[]> file : folder.read("", SUFFIX).entrySet()) {
                try {
                    JsonTree json = JsonTree.parse(file.getValue());
                    keep(json.at("digest").text(), checked(NodeClaimJson.read(json)));
                } catch (SluiceException e) {
                    folder.delete(file.getKey() + SUFFIX);
                }
            }
        } catch (IOException e) {
            throw new SluiceException("cannot read the claims in " + path + " (" + SluiceException.reason(e) + ")", e);
        }
    }

    private static NodeClaim checked(NodeClaim claim) {
        GivenLimits.of(LimitSource.CLAIM, claim.limits());
        return claim;
    }

    /// Again with other limits or another token, it replaces the one before; a tenant that runs keeps its limits.
    public synchronized void declare(String token, NodeClaim claim) {
        NodeClaim.checkToken(token);
        String digest = digest(token);
        if (checked(claim).equals(claims.get(digest))) {
            return;
        }
        if (find(claim.id()).isEmpty() && claims.size() >= MOST) {
            throw new SluiceException("there are " + MOST + " claims already; withdraw some");
        }
        try {
            folder.writeSoon(claim.id() + SUFFIX, JsonBytes.of(json -> {
                json.writeStartObject();
                json.writeStringProperty("digest", digest);
                NodeClaimJson.properties(json, claim);
                json.writeEndObject();
            }));
        } catch (IOException e) {
            throw new SluiceException("cannot keep the claim " + claim.id() + " (" + SluiceException.reason(e) + ")", e);
        }
        claims.values().removeIf(known -> known.id().equals(claim.id()));
        keep(digest, claim);
    }

    private void keep(String digest, NodeClaim claim) {
        claims.put(digest, claim);
        byId.put(claim.id(), claim);
    }

    /// No process can register with it any more.
    public synchronized void withdraw(String id) {
        NodeClaim.checkId(id);
        try {
            folder.deleteSoon(id + SUFFIX);
        } catch (IOException e) {
            throw new SluiceException("cannot forget the claim " + id + " (" + SluiceException.reason(e) + ")", e);
        }
        claims.values().removeIf(known -> known.id().equals(id));
        byId.remove(id);
    }

    public synchronized List<NodeClaim> list() {
        return List.copyOf(claims.values());
    }

    public Optional<NodeClaim> find(String id) {
        return Optional.ofNullable(byId.get(id));
    }

    public static boolean isLabel(String label) {
        return label.startsWith(NodeClaim.LABEL);
    }

    /// The claim of a process with this label; none if the label is that of no claim.
    public synchronized Optional<NodeClaim> ofLabel(String label) {
        return isLabel(label) ? Optional.ofNullable(claims.get(digest(label.substring(NodeClaim.LABEL.length())))) : Optional.empty();
    }

    private static String digest(String token) {
        byte[] bytes = token.getBytes(StandardCharsets.UTF_8);
        try {
            return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(bytes));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        } finally {
            Arrays.fill(bytes, (byte) 0);
        }
    }
}
