package sluice.proof.stage;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import sluice.region.limits.Limit;
import sluice.region.limits.LimitKind;

/// The limits of a tenant on GPU time.
///
/// @param environment further variables of its processes
public record Terms(Map<Limit, String> words, Map<String, String> environment) {
    public static final Terms NONE = new Terms(Map.of(), Map.of());
    private static final String SLICES = "SLUICE_SLICES";

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
        return new Terms(more, environment);
    }

    /// Its library controls the time slices of the GPU.
    public Terms withSlices() {
        return withEnvironment(Map.of(SLICES, "1"));
    }

    public Terms withEnvironment(Map<String, String> variables) {
        return new Terms(words, variables);
    }

    /// For `sluice run`; a switch has no value.
    public List<String> options() {
        List<String> options = new ArrayList<>();
        environment.forEach((name, value) -> options.addAll(List.of("--env", name + "=" + value)));
        words.forEach((limit, value) -> {
            options.add(limit.option());
            if (limit.kind() != LimitKind.SWITCH) {
                options.add(value);
            }
        });
        return options;
    }

    /// For the library without a command line.
    public Map<String, String> variables() {
        Map<String, String> variables = new LinkedHashMap<>(environment);
        words.forEach((limit, value) -> variables.put(limit.variable(), value));
        return variables;
    }

    String text() {
        return words.isEmpty() ? "none" : String.join(" ", options());
    }
}
