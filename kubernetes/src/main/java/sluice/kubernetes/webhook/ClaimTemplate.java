package sluice.kubernetes.webhook;

import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import sluice.kubernetes.cluster.JsonObject;
import sluice.region.place.SluiceException;

/// A ResourceClaimTemplate for one ask. Its name says its content, so the same ask has the same template, however often it is made.
///
/// @param name of the object
/// @param spec of its claims
record ClaimTemplate(String name, Map<String, Object> spec) {
    static final String DRIVER = "gpu.sluice.dev";
    private static final String CLASS = "sluice-gpu";
    private static final String REQUEST = "gpu";
    private static final long STEP_BYTES = 64L << 20;
    private static final int NAME_DIGITS = 16;
    private static final int WHOLE = 100;
    /// As many alternatives as a request may have.
    private static final int MOST_SIZES = 8;

    /// @param sizes how much memory the cluster's GPUs advertise, each once, in order; asked for only if the ask is a percentage
    static ClaimTemplate of(OlderAsk ask, Supplier<List<Long>> sizes) {
        Map<String, Object> devices = new LinkedHashMap<>();
        devices.put("requests", List.of(request(ask, sizes)));
        if (ask.gpus() > 1) {
            // Without this, both could be parts of one GPU.
            devices.put("constraints", List.of(sorted("distinctAttribute", DRIVER + "/uuid", "requests", List.of(REQUEST))));
        }
        if (!ask.priority().isEmpty()) {
            devices.put("config", List.of(Map.of("opaque", sorted("driver", DRIVER, "parameters",
                    sorted("apiVersion", "sluice.dev/v1alpha1", "kind", "GpuParameters", "priority", ask.priority())))));
        }
        Map<String, Object> spec = Map.of("devices", devices);
        return new ClaimTemplate("sluice-" + digest(spec), spec);
    }

    private static Map<String, Object> request(OlderAsk ask, Supplier<List<Long>> sizes) {
        return switch (ask.memory()) {
            case OlderAsk.Memory.Whole() -> sorted("exactly", part(ask, List.of(), 0), "name", REQUEST);
            case OlderAsk.Memory.Bytes(long bytes) -> sorted("exactly", part(ask, List.of(), bytes), "name", REQUEST);
            case OlderAsk.Memory.Percent(long percent) -> sorted("firstAvailable", alternatives(ask, percent, sizes.get()), "name", REQUEST);
        };
    }

    /// A claim cannot ask for a percentage, so there is an alternative for each size of GPU.
    private static List<Map<String, Object>> alternatives(OlderAsk ask, long percent, List<Long> sizes) {
        if (sizes.isEmpty() || sizes.size() > MOST_SIZES) {
            throw new SluiceException("a percentage of memory needs 1 to " + MOST_SIZES + " sizes of GPUs in the cluster, and there are " + sizes.size()
                    + "; write nvidia.com/gpumem in MiB");
        }
        List<Map<String, Object>> all = new ArrayList<>();
        for (long size : sizes) {
            String condition = "device.capacity['" + DRIVER + "'].memory.compareTo(quantity('" + size + "')) == 0";
            long bytes = size / WHOLE * percent + size % WHOLE * percent / WHOLE;
            Map<String, Object> one = part(ask, List.of(condition), Math.max(STEP_BYTES, bytes / STEP_BYTES * STEP_BYTES));
            one.put("name", "of-" + size);
            all.add(one);
        }
        return all;
    }

    /// @param bytes 0: what the device's policy gives, all
    private static Map<String, Object> part(OlderAsk ask, List<String> conditions, long bytes) {
        Map<String, Object> amounts = new LinkedHashMap<>();
        if (ask.percent() > 0) {
            amounts.put("compute", Long.toString(ask.percent()));
        }
        if (bytes > 0) {
            amounts.put("memory", Long.toString(bytes));
        }
        Map<String, Object> part = new LinkedHashMap<>();
        part.put("allocationMode", "ExactCount");
        if (!amounts.isEmpty()) {
            part.put("capacity", Map.of("requests", amounts));
        }
        part.put("count", ask.gpus());
        part.put("deviceClassName", CLASS);
        List<Map<String, Object>> selectors = new ArrayList<>();
        ask.chosen().forEach(condition -> selectors.add(selector(condition)));
        conditions.forEach(condition -> selectors.add(selector(condition)));
        if (!selectors.isEmpty()) {
            part.put("selectors", selectors);
        }
        return part;
    }

    private static Map<String, Object> selector(String expression) {
        return Map.of("cel", Map.of("expression", expression));
    }

    /// In the order given: the content decides the name, so its order must not change.
    private static Map<String, Object> sorted(Object... pairs) {
        Map<String, Object> map = new LinkedHashMap<>();
        for (int at = 0; at < pairs.length; at += 2) {
            map.put(pairs[at].toString(), pairs[at + 1]);
        }
        return map;
    }

    private static String digest(Map<String, Object> spec) {
        try {
            byte[] digest = MessageDigest.getInstance("SHA-256").digest(JsonObject.bytes(spec));
            return HexFormat.of().formatHex(digest).substring(0, NAME_DIGITS);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
    }

    Map<String, Object> json(String namespace) {
        return Map.of("apiVersion", "resource.k8s.io/v1", "kind", "ResourceClaimTemplate", "metadata", Map.of("name", name, "namespace", namespace,
                "labels", Map.of("sluice.dev/made-by", "webhook")), "spec", Map.of("spec", spec));
    }
}
