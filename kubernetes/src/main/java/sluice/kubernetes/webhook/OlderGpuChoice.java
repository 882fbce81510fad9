package sluice.kubernetes.webhook;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.Consumer;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import sluice.api.json.JsonTree;
import sluice.region.place.SluiceException;

/// HAMi's annotations that choose GPUs, as conditions of a claim.
final class OlderGpuChoice {
    private static final Pattern WORD = Pattern.compile("[A-Za-z0-9][A-Za-z0-9 ._-]{0,62}");
    private static final int MOST_WORDS = 32;
    private static final String DEVICE = "device.attributes['" + ClaimTemplate.DRIVER + "']";

    private OlderGpuChoice() {}

    /// In CEL. Nothing of an annotation gets there but letters, digits, blanks, dots, dashes and underscores.
    static List<String> of(JsonTree pod) {
        JsonTree annotations = pod.at("metadata").at("annotations");
        List<String> conditions = new ArrayList<>();
        models(annotations, "nvidia.com/use-gputype").ifNotEmpty(list -> conditions.add(list + ".exists(m, " + DEVICE + ".model.lowerAscii().contains(m))"));
        models(annotations, "nvidia.com/nouse-gputype").ifNotEmpty(list -> conditions.add("!" + list + ".exists(m, " + DEVICE + ".model.lowerAscii().contains(m))"));
        words(annotations, "nvidia.com/use-gpuuuid").ifNotEmpty(list -> conditions.add(DEVICE + ".uuid in " + list));
        words(annotations, "nvidia.com/nouse-gpuuuid").ifNotEmpty(list -> conditions.add("!(" + DEVICE + ".uuid in " + list + ")"));
        return conditions;
    }

    /// A list in CEL.
    private record Words(List<String> words) {
        void ifNotEmpty(Consumer<String> use) {
            if (!words.isEmpty()) {
                use.accept(words.stream().map(word -> "'" + word + "'").collect(Collectors.joining(", ", "[", "]")));
            }
        }
    }

    private static Words models(JsonTree annotations, String name) {
        return new Words(words(annotations, name).words().stream().map(word -> word.toLowerCase(Locale.ROOT)).toList());
    }

    private static Words words(JsonTree annotations, String name) {
        if (!(annotations.at(name).value() instanceof String text)) {
            return new Words(List.of());
        }
        List<String> words = Stream.of(text.split(",", -1)).map(String::strip).filter(word -> !word.isEmpty()).toList();
        if (words.size() > MOST_WORDS || !words.stream().allMatch(word -> WORD.matcher(word).matches())) {
            throw new SluiceException("the annotation " + name + " is no list of at most " + MOST_WORDS + " names, such as A100,H200");
        }
        return new Words(words);
    }
}
