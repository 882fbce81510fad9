package sluice.kubernetes.webhook;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import sluice.api.json.JsonTree;
import sluice.kubernetes.cluster.JsonObject;

/// Applies a JSON patch as the API server does: an operation on what is not there is an error.
final class Patched {
    private Patched() {}

    @SuppressWarnings("unchecked")
    static JsonTree of(JsonTree object, List<Map<String, Object>> operations) {
        Object copy = JsonTree.parse(JsonObject.bytes((Map<String, Object>) object.value())).value();
        for (JsonTree operation : JsonTree.parse(JsonObject.list(operations)).elements()) {
            List<String> path = new ArrayList<>(List.of(operation.at("path").text().substring(1).split("/")));
            path.replaceAll(part -> part.replace("~1", "/").replace("~0", "~"));
            Object parent = copy;
            for (String part : path.subList(0, path.size() - 1)) {
                parent = parent instanceof List<?> list ? list.get(Integer.parseInt(part)) : ((Map<String, Object>) parent).computeIfAbsent(part, missing -> absent(operation));
            }
            String last = path.getLast();
            switch (operation.at("op").text()) {
                case "remove" -> {
                    if (((Map<String, Object>) parent).remove(last) == null) {
                        absent(operation);
                    }
                }
                case "replace" -> {
                    if (((Map<String, Object>) parent).put(last, operation.at("value").value()) == null) {
                        absent(operation);
                    }
                }
                default -> {
                    if (last.equals("-")) {
                        ((List<Object>) parent).add(operation.at("value").value());
                    } else {
                        ((Map<String, Object>) parent).put(last, operation.at("value").value());
                    }
                }
            }
        }
        return new JsonTree(new LinkedHashMap<>((Map<String, Object>) copy));
    }

    private static Object absent(JsonTree operation) {
        throw new AssertionError("there is nothing at " + operation.at("path").text());
    }
}
