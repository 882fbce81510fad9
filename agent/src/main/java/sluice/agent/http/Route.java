package sluice.agent.http;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/// A path and a method that the agent answers.
///
/// @param pattern    path; a part in braces stands for any one part, as in `/v1/tenants/{name}`
/// @param summary    one line, for the OpenAPI document
/// @param parameters of the query
/// @param writes     whether it changes anything; then a caller that may only read is refused before the handler runs
/// @param open       whether it answers a caller that may see nothing
public record Route(String method, String pattern, String summary, List<Parameter> parameters, boolean writes, boolean open, Handler handler) {

    public Route {
        parameters = List.copyOf(parameters);
    }

    /// Runs in a thread of its own and may wait. It refuses by a [Refusal]; any other exception is a fault of the agent.
    @FunctionalInterface
    public interface Handler {
        Answer handle(Request request) throws Exception;
    }

    /// A parameter of the query.
    public record Parameter(String name, String summary) {}

    public static Route get(String pattern, String summary, Handler handler) {
        return new Route("GET", pattern, summary, List.of(), false, false, handler);
    }

    public static Route write(String method, String pattern, String summary, Handler handler) {
        return new Route(method, pattern, summary, List.of(), true, false, handler);
    }

    public Route with(Parameter... taken) {
        return new Route(method, pattern, summary, List.of(taken), writes, open, handler);
    }

    /// An answer that is the same for all callers.
    public Route forAll() {
        return new Route(method, pattern, summary, parameters, writes, true, handler);
    }

    /// The parts of a path that the pattern names, if it fits.
    Optional<Map<String, String>> match(String path) {
        String[] wanted = pattern.split("/", -1);
        String[] given = path.split("/", -1);
        if (wanted.length != given.length) {
            return Optional.empty();
        }
        Map<String, String> parts = new HashMap<>();
        for (int at = 0; at < wanted.length; at++) {
            boolean any = wanted[at].startsWith("{");
            if (any && !given[at].isEmpty()) {
                parts.put(wanted[at].substring(1, wanted[at].length() - 1), given[at]);
            } else if (!wanted[at].equals(given[at])) {
                return Optional.empty();
            }
        }
        return Optional.of(parts);
    }
}
