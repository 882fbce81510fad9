package sluice.kubernetes.webhook;

import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import sluice.api.json.JsonTree;
import sluice.kubernetes.cluster.Cluster;
import sluice.kubernetes.cluster.Quantity;

/// How much memory the cluster's GPUs advertise, each size once, in order.
final class GpuSizes implements Supplier<List<Long>> {
    private static final String SLICES = "/apis/resource.k8s.io/v1/resourceslices?limit=200&fieldSelector=spec.driver%3D" + ClaimTemplate.DRIVER;
    private static final long FRESH_NANOS = 30_000_000_000L;
    private static final int MOST_PAGES = 200;

    private final Cluster cluster;
    private final LongSupplier clock;
    private List<Long> sizes = List.of();
    private long readAt;

    GpuSizes(Cluster cluster, LongSupplier clock) {
        this.cluster = cluster;
        this.clock = clock;
    }

    @Override
    public synchronized List<Long> get() {
        if (sizes.isEmpty() || clock.getAsLong() - readAt > FRESH_NANOS) {
            sizes = read();
            readAt = clock.getAsLong();
        }
        return sizes;
    }

    private List<Long> read() {
        TreeSet<Long> found = new TreeSet<>();
        String next = "";
        for (int page = 0; page < MOST_PAGES; page++) {
            JsonTree list = cluster.get(SLICES + (next.isEmpty() ? "" : "&continue=" + next));
            for (JsonTree slice : list.at("items").elements()) {
                for (JsonTree device : slice.at("spec").has("devices") ? slice.at("spec").at("devices").elements() : List.<JsonTree>of()) {
                    JsonTree value = device.at("capacity").at("memory").at("value");
                    if (value.value() instanceof String text) {
                        found.add(Quantity.parse("capacity.memory", text));
                    }
                }
            }
            next = list.at("metadata").at("continue").value() instanceof String more ? URLEncoder.encode(more, StandardCharsets.UTF_8) : "";
            if (next.isEmpty()) {
                break;
            }
        }
        return new ArrayList<>(found);
    }
}
