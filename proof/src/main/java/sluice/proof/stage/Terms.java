package sluice.proof.stage;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import sluice.region.limits.Limit;

/// What a tenant is given of the GPU's time.
public record Terms(Map<Limit, String> words) {
    public static final Terms NONE = new Terms(Map.of());

    public static Terms compute(int percent) {
        return NONE.with(Limit.COMPUTE, percent + "%");
    }

    public static Terms weight(int weight) {
        return NONE.with(Limit.WEIGHT, String.valueOf(weight));
    }

    public static Terms priority(String priority) {
        return NONE.with(Limit.PRIORITY, priority);
    }

    public static Terms exclusive(String turn) {
        return NONE.with(Limit.EXCLUSIVE, "1").with(Limit.TURN, turn);
    }

    public Terms with(Limit limit, String value) {
        Map<Limit, String> more = new LinkedHashMap<>(words);
        more.put(limit, value);
        return new Terms(more);
    }

    /// For `sluice run`; a switch has no value.
    public List<String> options() {
        List<String> options = new ArrayList<>();
        words.forEach((limit, value) -> {
            options.add(limit.option());
            if (limit.kind() != Limit.Kind.SWITCH) {
                options.add(value);
            }
        });
        return options;
    }

    /// For the library without a command line.
    public Map<String, String> variables() {
        Map<String, String> variables = new LinkedHashMap<>();
        words.forEach((limit, value) -> variables.put(limit.variable(), value));
        return variables;
    }

    String text() {
        return words.isEmpty() ? "none" : String.join(" ", options());
    }
}
