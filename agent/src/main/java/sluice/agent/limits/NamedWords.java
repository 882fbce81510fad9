package sluice.agent.limits;

import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import sluice.region.limits.Limit;
import sluice.region.place.SluiceException;

/// Words of the form `name=value`, as in a line of a policy and in a request of `sluice run`.
public final class NamedWords {
    /// The limits that a job can be given.
    public static final List<String> LIMITS = Limit.words(List.of(Limit.values()));

    private NamedWords() {}

    /// The words of a text, each with one of some names, and each once.
    public static Map<String, String> parse(String text, List<String> known, String kind, String otherwise) {
        Map<String, String> words = new HashMap<>();
        for (String word : text.isEmpty() ? new String[0] : text.split("\\s+")) {
            int equals = word.indexOf('=');
            String name = equals < 0 ? word : word.substring(0, equals);
            if (equals < 0 || !known.contains(name)) {
                throw new SluiceException("'" + word + "' is none of the " + kind + "; write " + String.join("=, ", known) + "=" + otherwise);
            }
            if (words.put(name, word.substring(equals + 1)) != null) {
                throw new SluiceException(name + " is there twice; keep one");
            }
        }
        return words;
    }

    public static <T> Optional<T> value(Map<String, String> words, String name, Function<String, T> parser) {
        try {
            return Optional.ofNullable(words.get(name)).map(parser);
        } catch (SluiceException e) {
            throw new SluiceException(name + ": " + e.getMessage(), e);
        }
    }

    /// Those of them that are limits.
    public static Map<Limit, String> limits(Map<String, String> words) {
        Map<Limit, String> limits = new EnumMap<>(Limit.class);
        words.forEach((name, value) -> Limit.of(name).ifPresent(limit -> limits.put(limit, value)));
        return limits;
    }
}
