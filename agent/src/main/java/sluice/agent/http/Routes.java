package sluice.agent.http;

import java.io.PrintStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import sluice.region.place.SluiceException;

/// The table of routes, and the handling of their failures.
public final class Routes {
    private final List<Route> routes;
    private final PrintStream log;

    public Routes(List<Route> routes, PrintStream log) {
        this.routes = List.copyOf(routes);
        this.log = log;
    }

    public List<Route> all() {
        return routes;
    }

    Answer answer(Request request) {
        try {
            return choose(request);
        } catch (Refusal e) {
            return Answer.error(e.status(), e.getMessage());
        } catch (SluiceException e) {
            return Answer.error(400, e.getMessage());
        } catch (Exception | StackOverflowError | InternalError e) {
            log.println("sluice: " + request.method() + " " + printable(request.path()) + " failed: " + e);
            return Answer.error(500, "the agent failed to answer; its log says why");
        }
    }

    private Answer choose(Request request) throws Exception {
        String method = request.method().equals("HEAD") ? "GET" : request.method();
        List<String> others = new ArrayList<>();
        for (Route route : routes) {
            Optional<Map<String, String>> parts = route.match(request.path());
            if (parts.isPresent() && route.method().equals(method)) {
                permit(route, request.caller());
                return route.handler().handle(request.with(parts.get()));
            }
            parts.ifPresent(fits -> others.add(route.method()));
        }
        if (others.isEmpty()) {
            throw new Refusal(404, "there is no '" + printable(request.path()) + "'; GET /v1/openapi.json lists what there is");
        }
        return new Answer.Whole(405, Answer.JSON, ((Answer.Whole) Answer.error(405, "use " + String.join(" or ", others))).body(),
                Map.of("allow", String.join(", ", others)));
    }

    private static void permit(Route route, Caller caller) {
        if (!route.open() && !caller.mayRead()) {
            throw new Refusal(401, "a token is needed; send 'Authorization: Bearer TOKEN' with the one in the agent's token file");
        }
        if (route.writes() && !caller.mayWrite()) {
            throw new Refusal(caller.uid() == Caller.UNKNOWN ? 401 : 403,
                    "this changes limits, and the caller may only look; send 'Authorization: Bearer TOKEN' with the one in the agent's token file");
        }
    }

    /// A client's text, safe for a log and short.
    private static String printable(String text) {
        StringBuilder safe = new StringBuilder();
        text.chars().limit(100).forEach(c -> safe.append(c >= ' ' && c < 127 ? (char) c : '?'));
        return safe.toString();
    }
}
