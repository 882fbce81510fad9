package sluice.proof.stage;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import sluice.region.limits.Limit;
import sluice.region.limits.LimitKind;

/// The limits of a tenant on GPU time.
///
/// @param slices whether its library controls the time slices of the GPU
public record Terms(Map<Limit, String> words, boolean slices) {
    public static final Terms NONE = new Terms(Map.of(), false);
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
        return new Terms(more, slices);
    }

    public Terms withSlices() {
        return new Terms(words, true);
    }

    /// For `sluice run`; a switch has no value.
    public List<String> options() {
        List<String> options = new ArrayList<>(slices ? List.of("--env", SLICES + "=1") : List.of());
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
        Map<String, String> variables = new LinkedHashMap<>(slices ? Map.of(SLICES, "1") : Map.of());
        words.forEach((limit, value) -> variables.put(limit.variable(), value));
        return variables;
    }

    String text() {
        return words.isEmpty() ? "none" : String.join(" ", options());
    }
}
