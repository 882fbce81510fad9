package sluice.kubernetes.node;

import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import java.util.function.Predicate;

/// The GPUs of this node, as they were when the agent was asked last. One that was there and is not there now stays, as one that is unfit: claims
/// may be on it, and it may come back. That one which has claims stays so also when this program starts again.
public final class GpuWatch {
    private final NodeAgent agent;
    private final SeenGpus disk;
    private final Predicate<String> isUsed;
    private final Map<String, NodeGpu> seen = new LinkedHashMap<>();
    private final List<Consumer<List<NodeGpu>>> listeners = new CopyOnWriteArrayList<>();
    private boolean hasLooked;

    /// @param folder where it is written down which GPUs there are
    /// @param isUsed whether claims are on the GPU of a UUID
    public GpuWatch(NodeAgent agent, Path folder, Predicate<String> isUsed) {
        this.agent = agent;
        disk = new SeenGpus(folder);
        this.isUsed = isUsed;
        disk.read().forEach(gpu -> seen.put(gpu.uuid(), gpu));
    }

    /// Asks the agent. Listeners are told, whether anything changed or not; an older answer never comes after a newer one.
    public synchronized List<NodeGpu> look() {
        List<NodeGpu> now = agent.gpus();
        if (!hasLooked) {
            List<String> there = now.stream().map(NodeGpu::uuid).toList();
            seen.keySet().removeIf(uuid -> !there.contains(uuid) && !isUsed.test(uuid));
            hasLooked = true;
        }
        seen.replaceAll((uuid, gpu) -> gpu.vanished());
        now.forEach(gpu -> seen.put(gpu.uuid(), gpu));
        List<NodeGpu> all = List.copyOf(seen.values());
        disk.keep(all);
        listeners.forEach(listener -> listener.accept(all));
        return all;
    }

    public void listen(Consumer<List<NodeGpu>> listener) {
        listeners.add(listener);
    }
}
