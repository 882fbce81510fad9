package sluice.kubernetes.plugin;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import sluice.kubernetes.node.NodeGpu;
import sluice.kubernetes.wire.plugin.ContainerAllocateResponse;
import sluice.linux.DurableFolder;
import sluice.region.place.SluiceException;

/// Gives units to containers and writes down what it gave. It asks neither the agent nor kubelet, so a pod is not refused because one of them is
/// away; limits come later, in [UnitClaims].
final class UnitGiver {
    private static final String SUFFIX = ".json";
    private static final int TOKEN_BYTES = 32;
    private static final int ID_BYTES = 8;
    /// Of all claims of this program at the agent.
    static final String PREFIX = "units-";

    private final DurableFolder folder;
    private final PrintStream log;
    private final UnitEdits edits;
    private final UnitHalves halves = new UnitHalves(System::nanoTime);
    private final SecureRandom random = new SecureRandom();
    private final Map<String, GivenUnits> given = new ConcurrentHashMap<>();
    private final Supplier<List<NodeGpu>> gpus;
    private final Supplier<HeldUnits> held;

    /// @param gpus as kubelet was told of them last
    /// @param held as kubelet told it last
    UnitGiver(Path state, UnitEdits edits, Supplier<List<NodeGpu>> gpus, Supplier<HeldUnits> held, PrintStream log) {
        this.edits = edits;
        this.log = log;
        this.gpus = gpus;
        this.held = held;
        try {
            folder = DurableFolder.make(state);
            for (Map.Entry<String, byte[]> file : folder.read("", SUFFIX).entrySet()) {
                try {
                    GivenUnits read = GivenUnits.parse(file.getValue());
                    given.put(read.id(), read);
                } catch (RuntimeException e) {
                    log.println("sluice-kubernetes: " + state.resolve(file.getKey() + SUFFIX) + " is damaged; its container gets no limits when it starts again: delete its pod");
                }
            }
        } catch (IOException e) {
            throw new SluiceException("cannot use " + state + " (" + SluiceException.reason(e) + ")", e);
        }
    }

    List<GivenUnits> all() {
        return List.copyOf(given.values());
    }

    AlnairFolders workspaces() {
        return edits.alnair();
    }

    List<UnitId> prefer(UnitResource resource, List<String> available, List<String> required, int size) {
        boolean firstIsCompute = !resource.isMemory() && halves.hint(resource).isEmpty();
        return new PreferredUnits(halves.hint(resource), firstIsCompute).choose(UnitId.parse(available), UnitId.parse(required), size);
    }

    synchronized ContainerAllocateResponse give(UnitResource resource, List<String> units) {
        List<UnitId> ids = UnitId.parse(units);
        Map<String, List<UnitId>> byGpu = UnitId.byGpu(ids);
        if (byGpu.isEmpty() || byGpu.values().stream().map(List::size).distinct().count() > 1) {
            throw new SluiceException("no GPU of the node has so many free units of " + resource.resource() + "; the cluster counts the units of all GPUs together");
        }
        List<String> uuids = List.copyOf(byGpu.keySet());
        int each = ids.size() / uuids.size();
        for (String uuid : uuids) {
            check(resource, uuid, byGpu.get(uuid));
        }
        return resource.isMemory() ? memory(resource, ids, uuids) : compute(resource, uuids, Math.min(each, UnitResource.WHOLE_PERCENT));
    }

    private void check(UnitResource resource, String uuid, List<UnitId> ids) {
        NodeGpu gpu = gpus.get().stream().filter(each -> each.uuid().equals(uuid)).findFirst()
                .orElseThrow(() -> new SluiceException("the node has no GPU " + uuid + " any more"));
        if (ids.getLast().number() >= resource.unitsOf(gpu)) {
            throw new SluiceException(ids.getLast() + " is no unit of " + resource.resource());
        }
        if (!new UnitList(resource, List.of(gpu), held.get()).hasRoom(uuid, ids.size())) {
            throw new SluiceException("GPU " + uuid + " has no room for " + ids.size() + " units of " + resource.resource() + "; containers have them under other names");
        }
    }

    private ContainerAllocateResponse memory(UnitResource resource, List<UnitId> ids, List<String> uuids) {
        String id = PREFIX + HexFormat.of().formatHex(bytes(ID_BYTES));
        String workspace = resource.family() == UnitResource.Family.ALNAIR ? AlnairFolders.newId() : "";
        int percent = halves.add(resource, uuids, id, 0).map(UnitHalves.Half::percent).orElse(0);
        GivenUnits units = new GivenUnits(id, resource, ids.stream().map(UnitId::toString).toList(), Base64.getUrlEncoder().withoutPadding().encodeToString(bytes(TOKEN_BYTES)),
                workspace, percent, System.currentTimeMillis() / 1000, Optional.empty());
        if (!workspace.isEmpty()) {
            edits.alnair().make(workspace, units.bytes());
        }
        keep(units);
        Map<String, Integer> minors = new HashMap<>();
        gpus.get().forEach(gpu -> gpu.minor().ifPresent(minor -> minors.put(gpu.uuid(), minor)));
        return edits.of(units, minors);
    }

    /// Alone it gives nothing: the container's memory brings the library.
    private ContainerAllocateResponse compute(UnitResource resource, List<String> uuids, int percent) {
        halves.add(resource, uuids, "", percent).flatMap(half -> Optional.ofNullable(given.get(half.name()))).ifPresent(memory -> keep(memory.with(percent)));
        ContainerAllocateResponse.Builder answer = ContainerAllocateResponse.newBuilder();
        if (resource.family() == UnitResource.Family.ALNAIR) {
            answer.putEnvs("ALNAIR_VGPU_COMPUTE_PERCENTILE", Integer.toString(percent));
        }
        return answer.build();
    }

    /// What was given as just these units, the newest first.
    List<GivenUnits> of(UnitResource resource, List<String> units) {
        List<String> wanted = UnitId.parse(units).stream().map(UnitId::toString).toList();
        List<GivenUnits> found = new ArrayList<>(given.values().stream().filter(each -> each.resource() == resource && each.units().equals(wanted)).toList());
        found.sort((a, b) -> Long.compare(b.seconds(), a.seconds()));
        return found;
    }

    synchronized void keep(GivenUnits units) {
        try {
            folder.write(units.id() + SUFFIX, units.json());
        } catch (IOException e) {
            throw new SluiceException("cannot write down what was given in " + folder.path() + " (" + SluiceException.reason(e) + ")", e);
        }
        given.put(units.id(), units);
    }

    synchronized void forget(GivenUnits units) {
        try {
            if (!units.workspace().isEmpty()) {
                edits.alnair().remove(units.workspace());
            }
        } catch (SluiceException e) {
            // A container can fill its workspace with what nobody can remove. That must not keep its claim.
            log.println("sluice-kubernetes: " + e.getMessage() + "; remove it by hand");
        }
        try {
            folder.delete(units.id() + SUFFIX);
        } catch (IOException e) {
            throw new SluiceException("cannot forget what was given in " + folder.path() + " (" + SluiceException.reason(e) + ")", e);
        }
        given.remove(units.id());
    }

    private byte[] bytes(int count) {
        byte[] bytes = new byte[count];
        random.nextBytes(bytes);
        return bytes;
    }
}
