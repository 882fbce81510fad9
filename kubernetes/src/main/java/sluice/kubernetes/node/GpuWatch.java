package sluice.kubernetes.node;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;

/// The GPUs of this node, as they were when the agent was asked last. One that was there and is not there now stays, as one that is unfit: claims
/// may be on it, and it may come back.
public final class GpuWatch {
    private final NodeAgent agent;
    private final Map<String, NodeGpu> seen = new LinkedHashMap<>();
    private final List<Consumer<List<NodeGpu>>> listeners = new CopyOnWriteArrayList<>();

    public GpuWatch(NodeAgent agent) {
        this.agent = agent;
    }

    /// Asks the agent. Listeners are told, whether anything changed or not; an older answer never comes after a newer one.
    public synchronized List<NodeGpu> look() {
        List<NodeGpu> now = agent.gpus();
        seen.replaceAll((uuid, gpu) -> gpu.vanished());
        now.forEach(gpu -> seen.put(gpu.uuid(), gpu));
        List<NodeGpu> all = List.copyOf(seen.values());
        listeners.forEach(listener -> listener.accept(all));
        return all;
    }

    public void listen(Consumer<List<NodeGpu>> listener) {
        listeners.add(listener);
    }
}
