package sluice.kubernetes.webhook;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;
import sluice.api.json.JsonTree;
import sluice.region.place.SluiceException;

/// The changes that make a pod of an older tool one of Sluice. A pod that was translated names no older resource any more, so again changes nothing.
///
/// @param operations of a JSON patch; empty: the pod stays as it is
/// @param templates  that the changed pod names
record PodTranslation(List<Map<String, Object>> operations, Set<ClaimTemplate> templates) {
    private static final PodTranslation NOTHING = new PodTranslation(List.of(), Set.of());
    private static final String CLAIM = "sluice-";
    private static final int MOST_CLAIMS = 64;
    /// Of the older tools; without them their pods would wait for ever.
    private static final Set<String> SCHEDULERS = Set.of("hami-scheduler", "alnair-cost-saving", "alnair-high-performance");

    /// A container that asks for something.
    private record Asking(String path, JsonTree container, OlderResources named, OlderAsk ask, boolean isInit) {}

    /// @param all   whether a pod is translated that names `nvidia.com/gpu` alone
    /// @param sizes of the cluster's GPUs
    static PodTranslation of(JsonTree pod, boolean all, Supplier<List<Long>> sizes) {
        List<Asking> asking = new ArrayList<>();
        boolean tells = all;
        List<String> chosen = null;
        for (String list : List.of("containers", "initContainers")) {
            List<JsonTree> containers = list(pod.at("spec"), list);
            for (int at = 0; at < containers.size(); at++) {
                JsonTree container = containers.get(at);
                String path = "/spec/" + list + "/" + at;
                try {
                    OlderResources named = OlderResources.of(container);
                    tells |= named.tells();
                    if (!named.names().isEmpty()) {
                        chosen = chosen == null ? OlderGpuChoice.of(pod) : chosen;
                        boolean isInit = list.equals("initContainers") && !"Always".equals(container.at("restartPolicy").value());
                        named.ask(chosen).ifPresent(ask -> asking.add(new Asking(path, container, named, ask, isInit)));
                    }
                } catch (SluiceException e) {
                    throw new SluiceException(path.substring(1).replace('/', '.') + ": " + e.getMessage(), e);
                }
            }
        }
        if (!tells || asking.isEmpty()) {
            return NOTHING;
        }
        if (asking.size() > MOST_CLAIMS) {
            throw new SluiceException(asking.size() + " containers ask for a GPU; at most " + MOST_CLAIMS + " can");
        }
        return translate(pod, asking, sizes);
    }

    private static PodTranslation translate(JsonTree pod, List<Asking> asking, Supplier<List<Long>> sizes) {
        List<Map<String, Object>> operations = new ArrayList<>();
        Set<ClaimTemplate> templates = new LinkedHashSet<>();
        List<Map<String, Object>> claims = new ArrayList<>();
        Set<String> taken = new HashSet<>();
        list(pod.at("spec"), "resourceClaims").forEach(claim -> taken.add(String.valueOf(claim.at("name").value())));
        Map<OlderAsk, String> shared = new HashMap<>();
        for (Asking each : asking) {
            String claim = each.isInit() ? shared.get(each.ask()) : null;
            if (claim == null) {
                ClaimTemplate template = ClaimTemplate.of(each.ask(), sizes);
                claim = free(taken);
                templates.add(template);
                claims.add(operationValue("name", claim, "resourceClaimTemplateName", template.name()));
                // Init containers run before the others and one after the other, so one with the same ask takes no more.
                shared.putIfAbsent(each.ask(), claim);
            }
            replace(operations, each, claim);
        }
        append(operations, "/spec/resourceClaims", pod.at("spec").has("resourceClaims"), claims);
        if (pod.at("spec").at("schedulerName").value() instanceof String name && SCHEDULERS.contains(name)) {
            operations.add(operation("replace", "/spec/schedulerName", "default-scheduler"));
        }
        return new PodTranslation(operations, templates);
    }

    private static String free(Set<String> taken) {
        for (int number = 0;; number++) {
            if (taken.add(CLAIM + number)) {
                return CLAIM + number;
            }
        }
    }

    private static void replace(List<Map<String, Object>> operations, Asking asking, String claim) {
        String path = asking.path() + "/resources";
        JsonTree resources = asking.container().at("resources");
        for (String kind : List.of("limits", "requests")) {
            for (String name : asking.named().names()) {
                if (resources.at(kind).has(name)) {
                    operations.add(Map.of("op", "remove", "path", path + "/" + kind + "/" + name.replace("~", "~0").replace("/", "~1")));
                }
            }
        }
        append(operations, path + "/claims", resources.has("claims"), List.of(Map.of("name", claim)));
    }

    private static void append(List<Map<String, Object>> operations, String path, boolean exists, List<Map<String, Object>> values) {
        if (exists) {
            values.forEach(value -> operations.add(operation("add", path + "/-", value)));
        } else {
            operations.add(operation("add", path, values));
        }
    }

    private static Map<String, Object> operation(String op, String path, Object value) {
        Map<String, Object> operation = operationValue("op", op, "path", path);
        operation.put("value", value);
        return operation;
    }

    private static Map<String, Object> operationValue(String first, Object one, String second, Object two) {
        Map<String, Object> map = new LinkedHashMap<>();
        map.put(first, one);
        map.put(second, two);
        return map;
    }

    private static List<JsonTree> list(JsonTree json, String name) {
        return json.has(name) ? Optional.of(json.at(name)).filter(value -> value.value() instanceof List<?>)
                .orElseThrow(() -> new SluiceException("spec." + name + " is no list")).elements() : List.of();
    }
}
