package sluice.kubernetes.claims;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import sluice.kubernetes.claims.PreparedClaim.PreparedDevice;
import sluice.kubernetes.cluster.JsonObject;
import sluice.linux.DurableFolder;
import sluice.region.place.SluiceException;

/// The files by which the container runtime learns what a claim gives: one for each claim, in the runtime's folder for CDI.
///
/// They hold tokens, so only root can read them. They are written again after each start, so nobody waits until they are on the disk.
final class CdiFiles {
    private static final String KIND = "sluice.dev/claim";
    private static final String VERSION = "0.6.0";
    private static final String PREFIX = "sluice.dev-claim-";
    private static final String SUFFIX = ".json";

    private final DurableFolder folder;
    private final ContainerEdits edits;

    CdiFiles(Path path, ContainerEdits edits) throws IOException {
        folder = DurableFolder.make(path);
        this.edits = edits;
    }

    boolean namesNodes() {
        return edits.namesNodes();
    }

    /// @param minors numbers of the device files, by UUID
    void write(PreparedClaim claim, Map<String, Integer> minors) {
        Map<String, Map<String, Object>> devices = new LinkedHashMap<>();
        for (PreparedDevice device : claim.devices()) {
            devices.put(device.cdiName(), Map.of("name", device.cdiName(), "containerEdits", edits.of(claim.token(), claim.claim().gpus(), Optional.ofNullable(minors.get(device.uuid())))));
        }
        try {
            folder.writeSoon(PREFIX + claim.claim().id() + SUFFIX, JsonObject.bytes(Map.of("cdiVersion", VERSION, "kind", KIND, "devices", List.copyOf(devices.values()))));
        } catch (IOException e) {
            throw new SluiceException("cannot write the CDI file of the claim into " + folder.path() + " (" + SluiceException.reason(e) + ")", e);
        }
    }

    void delete(String id) {
        try {
            folder.deleteSoon(PREFIX + id + SUFFIX);
        } catch (IOException e) {
            throw new SluiceException("cannot remove the CDI file of the claim from " + folder.path() + " (" + SluiceException.reason(e) + ")", e);
        }
    }

    /// The claims that have a file.
    Set<String> ids() {
        try {
            return folder.read(PREFIX, SUFFIX).keySet();
        } catch (IOException e) {
            throw new SluiceException("cannot read " + folder.path() + " (" + SluiceException.reason(e) + ")", e);
        }
    }

    /// What kubelet passes to the runtime.
    List<String> ids(PreparedDevice device) {
        List<String> ids = new ArrayList<>(List.of(KIND + "=" + device.cdiName()));
        edits.driver().ifPresent(kind -> ids.add(kind + "=" + device.uuid()));
        return ids;
    }
}
