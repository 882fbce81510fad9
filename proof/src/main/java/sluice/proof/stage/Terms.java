package sluice.proof.stage;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/// What a tenant is given of the GPU's time, in the words of `sluice run`, which are those of the library's variables too.
public record Terms(Map<String, String> words) {
    public static final Terms NONE = new Terms(Map.of());

    public static Terms compute(int percent) {
        return NONE.with("compute", percent + "%");
    }

    public static Terms weight(int weight) {
        return NONE.with("weight", String.valueOf(weight));
    }

    public static Terms priority(String priority) {
        return NONE.with("priority", priority);
    }

    public static Terms exclusive(String turn) {
        return NONE.with("exclusive", "").with("turn", turn);
    }

    public Terms with(String word, String value) {
        Map<String, String> more = new LinkedHashMap<>(words);
        more.put(word, value);
        return new Terms(more);
    }

    /// For `sluice run`; a word without a value stands alone.
    public List<String> options() {
        List<String> options = new ArrayList<>();
        words.forEach((word, value) -> {
            options.add("--" + word);
            if (!value.isEmpty()) {
                options.add(value);
            }
        });
        return options;
    }

    /// For the library without a command line.
    public Map<String, String> variables() {
        Map<String, String> variables = new LinkedHashMap<>();
        words.forEach((word, value) -> variables.put("SLUICE_" + word.toUpperCase(Locale.ROOT), value.isEmpty() ? "1" : value));
        return variables;
    }

    String text() {
        return words.isEmpty() ? "none" : String.join(" ", options());
    }
}
