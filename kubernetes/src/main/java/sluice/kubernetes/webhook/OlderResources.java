package sluice.kubernetes.webhook;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import sluice.api.json.JsonTree;
import sluice.kubernetes.cluster.Quantity;
import sluice.region.place.SluiceException;

/// Reads the resources of HAMi and Alnair.
final class OlderResources {
    private static final String GPU = "nvidia.com/gpu";
    private static final String MEMORY = "nvidia.com/gpumem";
    private static final String MEMORY_PERCENT = "nvidia.com/gpumem-percentage";
    private static final String CORES = "nvidia.com/gpucores";
    private static final String PRIORITY = "nvidia.com/priority";
    private static final String ALNAIR_MEMORY = "alnair/vgpu-memory";
    private static final String ALNAIR_COMPUTE = "alnair/vgpu-compute";
    private static final List<String> HAMI = List.of(GPU, MEMORY, MEMORY_PERCENT, CORES, PRIORITY);
    private static final List<String> ALNAIR = List.of(ALNAIR_MEMORY, ALNAIR_COMPUTE);
    /// A pod that names one of these was written for an older tool.
    private static final Set<String> TELLING = Set.of(MEMORY, MEMORY_PERCENT, CORES, ALNAIR_MEMORY, ALNAIR_COMPUTE);
    private static final long WHOLE = 100;
    private static final long MOST_GPUS = 64;
    private static final long MOST_MIB = 1L << 24;

    /// The resources of one container that are translated, as they are written.
    private final Map<String, String> named;

    private OlderResources(Map<String, String> named) {
        this.named = named;
    }

    static OlderResources of(JsonTree container) {
        JsonTree limits = container.at("resources").at("limits");
        JsonTree requests = container.at("resources").at("requests");
        Map<String, String> named = new LinkedHashMap<>();
        for (List<String> tool : List.of(HAMI, ALNAIR)) {
            for (String name : tool) {
                JsonTree given = limits.has(name) ? limits.at(name) : requests.at(name);
                if (given.value() != null) {
                    named.put(name, text(name, given));
                }
                if (limits.has(name) && requests.has(name) && !text(name, limits.at(name)).equals(text(name, requests.at(name)))) {
                    throw new SluiceException(name + " has another limit than request; write one of both");
                }
            }
        }
        return new OlderResources(named);
    }

    private static String text(String name, JsonTree value) {
        return switch (value.value()) {
            case String text -> text;
            case Long number -> number.toString();
            case null, default -> throw new SluiceException(name + " is no quantity; write a whole number");
        };
    }

    boolean tells() {
        return named.keySet().stream().anyMatch(TELLING::contains);
    }

    Set<String> names() {
        return new TreeSet<>(named.keySet());
    }

    /// @param chosen conditions on the GPU that the pod's annotations name
    /// @return empty if it asks for nothing
    Optional<OlderAsk> ask(List<String> chosen) {
        boolean hami = HAMI.stream().anyMatch(named::containsKey);
        boolean alnair = ALNAIR.stream().anyMatch(named::containsKey);
        if (hami && alnair) {
            throw new SluiceException("it names resources of both HAMi and Alnair: " + String.join(", ", named.keySet()) + "; write those of one");
        }
        return hami ? hami(chosen) : alnair ? alnair(chosen) : Optional.empty();
    }

    private Optional<OlderAsk> hami(List<String> chosen) {
        boolean others = number(MEMORY) > 0 || number(MEMORY_PERCENT) > 0 || number(CORES) > 0;
        long gpus = named.containsKey(GPU) ? number(GPU) : others ? 1 : 0;
        if (gpus == 0 && !others) {
            return Optional.empty();
        }
        atMost(GPU, gpus, MOST_GPUS, "");
        if (gpus == 0) {
            throw new SluiceException(GPU + " is 0, and others of its resources are not");
        }
        atMost(MEMORY_PERCENT, number(MEMORY_PERCENT), WHOLE, "");
        atMost(CORES, number(CORES), WHOLE, "");
        atMost(MEMORY, number(MEMORY), MOST_MIB, "; it is in MiB");
        OlderAsk.Memory memory = new OlderAsk.Memory.Whole();
        if (number(MEMORY) > 0) {
            memory = new OlderAsk.Memory.Bytes(number(MEMORY) << 20);
        } else if (number(MEMORY_PERCENT) > 0 && number(MEMORY_PERCENT) < WHOLE) {
            memory = new OlderAsk.Memory.Percent(number(MEMORY_PERCENT));
        }
        String priority = named.containsKey(PRIORITY) ? number(PRIORITY) == 0 ? "high" : "low" : "";
        return Optional.of(new OlderAsk(gpus, memory, number(CORES), priority, chosen));
    }

    private Optional<OlderAsk> alnair(List<String> chosen) {
        if (number(ALNAIR_MEMORY) == 0) {
            if (number(ALNAIR_COMPUTE) == 0) {
                return Optional.empty();
            }
            throw new SluiceException(ALNAIR_COMPUTE + " needs " + ALNAIR_MEMORY + " in the same container");
        }
        atMost(ALNAIR_MEMORY, number(ALNAIR_MEMORY), MOST_MIB >> 10, "; it is in GiB");
        return Optional.of(new OlderAsk(1, new OlderAsk.Memory.Bytes(number(ALNAIR_MEMORY) << 30), Math.min(WHOLE, number(ALNAIR_COMPUTE)), "", chosen));
    }

    private long number(String name) {
        return named.containsKey(name) ? Quantity.parseWhole(name, named.get(name)) : 0;
    }

    private void atMost(String name, long number, long most, String unit) {
        if (number > most) {
            throw new SluiceException(name + " is " + named.get(name) + ", and at most " + most + " makes sense" + unit);
        }
    }
}
